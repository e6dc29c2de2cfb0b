/** Seconds since 1970-01-01T00:00:00Z. */
export type Instant = number

/** A change of the clocks of a zone: from `at` on they are `after` seconds ahead of UTC, and were `before`. */
export interface Transition {
  readonly at: Instant
  readonly before: number
  readonly after: number
}

/** The clocks of a zone over some time. */
export interface Clocks {
  /** Seconds ahead of UTC until the first transition. */
  readonly first: number
  readonly transitions: readonly Transition[]
}

/**
 * The instants that are looked at lie so far apart. Since 1900 no zone changed its clocks twice within less: the shortest time was
 * four days, in Freetown in 1939.
 */
const STRIDE = 3 * 86_400

/** Finds when the clocks of a zone are changed, from `from` to `to`, in the time zone data of the runtime. */
export function readClocks(zone: string, from: Instant, to: Instant): Clocks {
  const offsetAt = offsetsOf(zone)
  const first = offsetAt(from)
  const transitions: Transition[] = []
  let before = first
  for (let low = from; low < to; low += STRIDE) {
    const high = Math.min(low + STRIDE, to)
    const after = offsetAt(high)
    if (after === before) continue
    transitions.push({ at: changeBetween(low, high, offsetAt), before, after })
    before = after
  }
  return { first, transitions }
}

/** The first instant after `low` at which the offset is no longer that of `low`. */
function changeBetween(low: Instant, high: Instant, offsetAt: (instant: Instant) => number): Instant {
  const before = offsetAt(low)
  let [last, first] = [low, high]
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2)
    if (offsetAt(middle) === before) last = middle
    else first = middle
  }
  return first
}

/**
 * Seconds ahead of UTC, as the runtime knows them. A call takes microseconds, and a format a tenth of a megabyte: neither is
 * kept.
 */
function offsetsOf(timeZone: string): (instant: Instant) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset', year: 'numeric' })
  return (instant) => {
    const text = format.format(instant * 1_000)
    const [, sign, hours, minutes, seconds = 0] = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text) ?? []
    if (sign === undefined) return 0
    const size = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
    return sign === '-' ? -size : size
  }
}
