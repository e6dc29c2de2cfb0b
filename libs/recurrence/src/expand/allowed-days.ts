import { dateOf, dayOf, type WallDay, weekdayOf } from '../wall/wall-time.ts'
import { type DayFilter, lengthOfYear } from './day-filter.ts'

/**
 * The shape of a year: of two years of one shape, each day has the same month, weekday and numbers. The first days may belong to
 * the last week of the year before, and the last days to the first week of the next one: their numbers depend on the lengths
 * of these years.
 */
export function shapeOfYear(year: number, first: WallDay): number {
  const lengths = [year - 1, year, year + 1].map((each) => lengthOfYear(each) - 365)
  return lengths.reduce((shape, isLeap) => shape * 2 + isLeap, weekdayOf(first))
}

/** Most rules have a day within a week or two. Only of others a whole year is worth looking at. */
const NEAR = 15
/** No day is looked for further away at once. */
const MOST_YEARS = 8

/** The days that a rule may fall on, for rules that look at single days: a year of a shape that was seen is only looked up. */
export class AllowedDays {
  readonly #filter: DayFilter
  readonly #offsets = new Map<number, Uint16Array>()
  #isSparse = false
  /** What was asked last, and the answer: times of one day ask for it again and again. */
  #asked: WallDay | undefined
  #answer: WallDay = 0

  constructor(filter: DayFilter) {
    this.#filter = filter
  }

  /** The first allowed day from a day on; when there is none for years, a day of which all before are not allowed. */
  from(day: WallDay): WallDay {
    if (day === this.#asked) return this.#answer
    const found = (this.#isSparse ? undefined : this.#near(day)) ?? this.#inYears(day)
    this.#asked = day
    this.#answer = found
    return found
  }

  #near(day: WallDay): WallDay | undefined {
    for (let near = day; near < day + NEAR; near++) if (this.#filter.allows(near)) return near
    this.#isSparse = true
    return undefined
  }

  #inYears(day: WallDay): WallDay {
    const { year: start } = dateOf(day)
    for (let year = start; year < start + MOST_YEARS && year < 10_000; year++) {
      const first = dayOf({ year, month: 1, day: 1 })
      const offsets = this.#offsetsOf(year, first)
      const offset = offsets[placeIn(offsets, day - first)]
      if (offset !== undefined) return first + offset
    }
    return dayOf({ year: start + MOST_YEARS, month: 1, day: 1 })
  }

  #offsetsOf(year: number, first: WallDay): Uint16Array {
    const shape = shapeOfYear(year, first)
    const known = this.#offsets.get(shape)
    if (known !== undefined) return known
    const all = Uint16Array.from({ length: lengthOfYear(year) }, (_, offset) => offset)
    const offsets = all.filter((offset) => this.#filter.allows(first + offset))
    this.#offsets.set(shape, offsets)
    return offsets
  }
}

/** Where the first value is that is not less, in a sorted list. */
function placeIn(list: Uint16Array, value: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}
