import { DAY_SECONDS, dayOf, type WallTime } from '../wall/wall-time.ts'
import { isZoneName } from './names.ts'
import { type Clocks, type Instant, readClocks, type Transition } from './offsets.ts'

/** The rules by which clocks are changed repeat with the calendar, every 400 years; those of today hold from 2100 on. */
const CYCLE = 146_097 * DAY_SECONDS
const CYCLES_FROM = dayOf({ year: 2500, month: 1, day: 1 }) * DAY_SECONDS
/** Transitions are looked for in blocks of about eight years, when they are first needed. */
const BLOCK = 2_922 * DAY_SECONDS
/** No zone is further from UTC. */
const MARGIN = 2 * DAY_SECONDS

const zones = new Map<string, Zone>()

/**
 * A time zone: which instant a wall time of it is, and the reverse. What the runtime knows is looked up once and kept, which
 * makes it some hundred times faster than the runtime.
 */
export class Zone {
  readonly name: string
  readonly #blocks = new Map<number, Clocks>()

  private constructor(name: string) {
    this.name = name
  }

  /**
   * The zone of a name of the IANA database.
   * @throws RangeError for any other name.
   */
  static of(name: string): Zone {
    const known = zones.get(name)
    if (known !== undefined) return known
    if (!isZoneName(name)) throw new RangeError(`${name} is no name of the time zone database`)
    const zone = new Zone(name)
    zones.set(name, zone)
    return zone
  }

  /**
   * The instant of a wall time. One that clocks skip is as much later as they skip; of one that they show twice it is the
   * first (calendar 4).
   */
  instantOf(time: WallTime): Instant {
    return time - this.#around(time).before
  }

  /** The earliest instant of this wall time and all later ones: for one that is skipped, that of a later one is earlier. */
  earliestFrom(time: WallTime): Instant {
    const { before, after } = this.#around(time)
    return time - Math.max(before, after)
  }

  /** What clocks of the zone show. */
  wallTimeOf(instant: Instant): WallTime {
    return instant + this.offsetAt(instant)
  }

  /** How far clocks of the zone are ahead of UTC, in seconds. */
  offsetAt(instant: Instant): number {
    const shift = shiftOf(instant)
    const { first, transitions } = this.#clocks(instant - shift)
    let offset = first
    for (const { at, after } of transitions) {
      if (at + shift > instant) break
      offset = after
    }
    return offset
  }

  /** The changes of the clocks from one instant on and before another, earliest first. */
  transitions(from: Instant, to: Instant): Transition[] {
    const found: Transition[] = []
    for (let block = from; block < to + BLOCK; block += BLOCK) {
      const shift = shiftOf(block)
      for (const transition of this.#clocks(block - shift).transitions) {
        const at = transition.at + shift
        // Blocks overlap at their edges.
        if (at >= from && at < to && at > (found.at(-1)?.at ?? Number.NEGATIVE_INFINITY)) {
          found.push({ ...transition, at })
        }
      }
    }
    return found
  }

  /**
   * The offsets that may apply to a wall time: until the next change of the clocks, and after the one that skips the time, if
   * there is one.
   */
  #around(time: WallTime): { readonly before: number; readonly after: number } {
    const shift = shiftOf(time)
    const { first, transitions } = this.#clocks(time - shift)
    const shown = time - shift
    let offset = first
    for (const { at, before, after } of transitions) {
      // Until then the clocks show the time for the first time, or would if they had not been changed.
      if (shown < at + Math.max(before, after)) {
        return { before, after: shown >= at + before ? after : before }
      }
      offset = after
    }
    return { before: offset, after: offset }
  }

  /** The clocks around an instant or a wall time. */
  #clocks(time: number): Clocks {
    const block = Math.floor(time / BLOCK)
    const known = this.#blocks.get(block)
    if (known !== undefined) return known
    const clocks = readClocks(this.name, block * BLOCK - MARGIN, (block + 1) * BLOCK + MARGIN)
    this.#blocks.set(block, clocks)
    return clocks
  }
}

/** How much later a time is than the same one of a cycle that is looked up. */
function shiftOf(time: number): number {
  return time < CYCLES_FROM ? 0 : (Math.floor((time - CYCLES_FROM) / CYCLE) + 1) * CYCLE
}
