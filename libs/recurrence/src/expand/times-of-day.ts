/**
 * Every hour with every minute with every second, in their order. They are computed and not stored: a short rule can name every
 * second of a day.
 */
export class TimesOfDay {
  readonly length: number
  readonly #hours: readonly number[]
  readonly #minutes: readonly number[]
  readonly #seconds: readonly number[]

  /** @param hours and the others sorted. */
  constructor(hours: readonly number[], minutes: readonly number[], seconds: readonly number[]) {
    this.#hours = hours
    this.#minutes = minutes
    this.#seconds = seconds
    this.length = hours.length * minutes.length * seconds.length
  }

  /** The time of a place, in seconds; undefined beyond the last one. */
  at(place: number): number | undefined {
    const perHour = this.#minutes.length * this.#seconds.length
    const hour = this.#hours[Math.floor(place / perHour)]
    const minute = this.#minutes[Math.floor((place % perHour) / this.#seconds.length)]
    const second = this.#seconds[place % this.#seconds.length]
    return hour === undefined || minute === undefined || second === undefined
      ? undefined
      : hour * 3_600 + minute * 60 + second
  }

  /** The first place of a time that is not less; `length` when there is none. */
  placeOf(least: number): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.at(middle) ?? 0) < least) low = middle + 1
      else high = middle
    }
    return low
  }
}
