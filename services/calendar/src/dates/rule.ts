import { Expansion, type Instant, parseRule, type WallTime, type Zone } from '@restante/recurrence'
import { wallOf } from './times/wall.ts'

/** Rules that are kept expanded as far as they were: an agenda asks for the same ones again and again. */
const MOST_KEPT = 2_000
const kept = new Map<string, SeriesRule>()

/**
 * The rule of a series from its start on, without what is taken out or added. It can be asked from any time on: of a rule with
 * COUNT only the last time must be known, which is stored with the series, because to count up to it takes milliseconds.
 */
export class SeriesRule {
  readonly #rule: ConstructorParameters<typeof Expansion>[0]
  readonly #expansion: Expansion
  readonly #start: WallTime
  readonly #untilDay: WallTime | undefined
  readonly #untilInstant: Instant | undefined
  readonly #count: number | undefined
  #last: WallTime | undefined

  constructor(text: string, start: string, allDay: boolean) {
    const { count, until, ...endless } = parseRule(text, { allDay })
    this.#start = wallOf(start)
    this.#rule = endless
    this.#count = count
    this.#expansion = new Expansion(endless, this.#start)
    this.#untilDay = until === undefined || !allDay ? undefined : dayUntil(until)
    this.#untilInstant = until === undefined || allDay ? undefined : instantUntil(until)
    this.#last = count === undefined ? Number.POSITIVE_INFINITY : undefined
  }

  /**
   * The rule of a series, from those that are kept.
   * @param last its last time, where it is known.
   */
  static of(text: string, start: string, allDay: boolean, last?: WallTime): SeriesRule {
    const key = `${text} ${start}`
    const rule = kept.get(key) ?? new SeriesRule(text, start, allDay)
    rule.#last ??= last
    // The one that was asked for last is the last one to go.
    kept.delete(key)
    kept.set(key, rule)
    if (kept.size > MOST_KEPT) for (const oldest of kept.keys()) return drop(oldest, rule)
    return rule
  }

  /** Its times from a wall time on. */
  *from(from: WallTime, zone: Zone): Generator<WallTime, void> {
    for (const time of this.#expansion.times({ from: Math.max(from, this.#start) })) {
      if (this.#isAfterEnd(time, zone)) return
      if (this.#untilInstant === undefined || zone.instantOf(time) <= this.#untilInstant) yield time
    }
  }

  has(time: WallTime, zone: Zone): boolean {
    return time >= this.#start && this.from(time, zone).next().value === time
  }

  /** No time is later. @returns undefined of an endless rule. */
  lastTime(zone: Zone): WallTime | undefined {
    if (this.#untilInstant !== undefined) return zone.wallTimeOf(this.#untilInstant)
    return this.#untilDay ?? this.lastCounted()
  }

  /** The last time of a rule with COUNT. @returns undefined of any other. */
  lastCounted(): WallTime | undefined {
    const last = this.#lastOrNever()
    return last === Number.POSITIVE_INFINITY ? undefined : last
  }

  #lastOrNever(): WallTime {
    this.#last ??= lastOf({ ...this.#rule, ...(this.#count !== undefined && { count: this.#count }) }, this.#start)
    return this.#last
  }

  /** Whether all times from this one on are after the end of the rule. */
  #isAfterEnd(time: WallTime, zone: Zone): boolean {
    if (time > this.#lastOrNever() || (this.#untilDay !== undefined && time > this.#untilDay)) return true
    return this.#untilInstant !== undefined && zone.earliestFrom(time) > this.#untilInstant
  }
}

function drop(key: string, rule: SeriesRule): SeriesRule {
  kept.delete(key)
  return rule
}

function lastOf(rule: ConstructorParameters<typeof Expansion>[0], start: WallTime): WallTime {
  let last = Number.NEGATIVE_INFINITY
  for (const time of new Expansion(rule, start).times()) last = time
  return last
}

/** `YYYYMMDD`, as wall time of its midnight. */
function dayUntil(until: string): WallTime {
  return wallOf(`${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}`)
}

/** `YYYYMMDDTHHMMSSZ`: a wall time of UTC is an instant. */
function instantUntil(until: string): Instant {
  const [hours, minutes, seconds] = [until.slice(9, 11), until.slice(11, 13), until.slice(13, 15)].map(Number)
  return dayUntil(until) + (hours ?? 0) * 3_600 + (minutes ?? 0) * 60 + (seconds ?? 0)
}
