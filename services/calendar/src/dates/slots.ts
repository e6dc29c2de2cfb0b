import { type WallTime, Zone } from '@restante/recurrence'
import type { EventRow, Schedule } from '../model/rows.ts'
import { SeriesRule } from './rule.ts'
import { lengthOf } from './times/periods.ts'
import { wallOf } from './times/wall.ts'

/** What of a series says when its dates start originally. */
export type SeriesDefinition = Pick<EventRow, 'rule' | 'exdates' | 'rdates' | 'truncate_before' | 'last_slot'> &
  Schedule

/** An original start of a series. */
export interface Slot {
  readonly wall: WallTime
  /** In milliseconds, when the date has a length of its own. */
  readonly length: number | undefined
}

/** The original starts of a series: what its rule makes and what is added, without what is taken out (calendar 10). */
export class Slots {
  readonly zone: Zone
  readonly #rule: SeriesRule | undefined
  readonly #excluded: ReadonlySet<WallTime>
  readonly #added: ReadonlyMap<WallTime, Slot>
  readonly #end: WallTime

  private constructor(event: SeriesDefinition, given: { readonly truncated: boolean; readonly excluded: boolean }) {
    const { rule, start, all_day, truncate_before, exdates, rdates, last_slot } = event
    this.zone = Zone.of(event.timezone)
    const last = last_slot === null || last_slot === undefined ? undefined : wallOf(last_slot)
    this.#rule = rule === null ? undefined : SeriesRule.of(rule, start, all_day, last)
    this.#excluded = new Set(given.excluded ? exdates.map(wallOf) : [])
    const added = rdates.map(
      (rdate): Slot =>
        typeof rdate === 'string'
          ? { wall: wallOf(rdate), length: undefined }
          : { wall: wallOf(rdate.start), length: lengthOf(rdate, event) },
    )
    added.sort((a, b) => a.wall - b.wall)
    this.#added = new Map(added.map((slot) => [slot.wall, slot]))
    this.#end = given.truncated && truncate_before !== null ? wallOf(truncate_before) : Number.POSITIVE_INFINITY
  }

  /** The slots of a series as it is; of a one-off none. */
  static of(event: SeriesDefinition): Slots {
    return new Slots(event, { truncated: true, excluded: true })
  }

  /** The slots as they would be if the series had not been ended with `mode=future`. */
  static withoutEnd(event: SeriesDefinition): Slots {
    return new Slots(event, { truncated: false, excluded: true })
  }

  /** The slots from a wall time on, in their order. */
  *from(from: WallTime): Generator<Slot, void> {
    const added = [...this.#added.values()].filter(({ wall }) => wall >= from)
    let next = 0
    for (const wall of this.#rule?.from(from, this.zone) ?? []) {
      for (let slot = added[next]; slot !== undefined && slot.wall <= wall; slot = added[++next]) {
        if (slot.wall < wall && this.#isLeft(slot.wall)) yield slot
      }
      if (wall >= this.#end) break
      if (this.#isLeft(wall)) yield { wall, length: undefined }
    }
    for (const slot of added.slice(next)) if (this.#isLeft(slot.wall)) yield slot
  }

  /** No slot is later. @returns undefined of an endless series. */
  last(): WallTime | undefined {
    const ruled = this.#rule === undefined ? Number.NEGATIVE_INFINITY : this.#rule.lastTime(this.zone)
    const last = Math.max(ruled ?? Number.POSITIVE_INFINITY, ...this.#added.keys())
    const left = Math.min(last, this.#end)
    return left === Number.POSITIVE_INFINITY ? undefined : left
  }

  /** The last slot that a rule with COUNT makes. @returns undefined of any other rule. */
  lastCounted(): WallTime | undefined {
    return this.#rule?.lastCounted()
  }

  /** The slot of a wall time, when the series has it. */
  at(wall: WallTime): Slot | undefined {
    if (!this.#isLeft(wall)) return undefined
    return this.#rule?.has(wall, this.zone) ? { wall, length: undefined } : this.#added.get(wall)
  }

  #isLeft(wall: WallTime): boolean {
    return wall < this.#end && !this.#excluded.has(wall)
  }
}
