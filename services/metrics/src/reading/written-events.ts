import type { CountedEventType } from '@restante/contracts/vocabulary'
import type { Grid } from '../series/grid.ts'
import { DAY_MS, dayOf } from '../series/series.ts'
import type { PeriodSum } from '../series/sums.ts'

const [COMMA, ZERO, OPEN, CLOSE, END] = [0x2c, 0x30, 0x5b, 0x5d, 0x7d]

/** An entry up to its count, and where its time and the parts of that are. */
const ENTRY = Buffer.from('{"timestamp":"0000-00-00T00:00:00.000Z","count":')
const DATE = ENTRY.indexOf('0000-00-00')
const [HOUR, MINUTE, SECOND, MILLISECOND] = [DATE + 11, DATE + 14, DATE + 17, DATE + 20]
/** The longest name of a type, with what is around it. */
const NAME_BYTES = 64

/**
 * Writes an answer about events as JSON: every type with its entries, in the order in which they were found. An answer has ten
 * thousand entries; as objects and strings they cost twice as much, and most of the garbage of this service.
 */
export function writeEvents(
  types: readonly CountedEventType[],
  found: ReadonlyMap<CountedEventType, readonly PeriodSum[]>,
  { from, period }: Pick<Grid, 'from' | 'period'>,
): Buffer {
  const lists = types.map((type) => ({ type, sums: found.get(type) ?? [] }))
  const writer = new Writer(lists.reduce((bytes, { sums }) => bytes + NAME_BYTES + mostBytes(sums), NAME_BYTES))
  let before = '{'
  for (const { type, sums } of lists) {
    writer.text(`${before}"${type}":`)
    writer.list(sums, from, period)
    before = ','
  }
  writer.text(before === '{' ? '{}' : '}')
  return writer.bytes
}

function mostBytes(sums: readonly PeriodSum[]): number {
  const largest = sums.reduce((most, { sum }) => Math.max(most, sum), 0)
  return sums.length * (ENTRY.length + String(largest).length + '},'.length)
}

class Writer {
  readonly #bytes: Buffer
  #at = 0
  readonly #entry = Buffer.from(ENTRY)
  /** How days are written: each type has mostly the same ones. */
  readonly #dates = new Map<number, string>()
  /** The day that the entry has now. */
  #day = Number.NaN

  constructor(most: number) {
    this.#bytes = Buffer.allocUnsafe(most)
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  text(text: string): void {
    this.#at += this.#bytes.write(text, this.#at, 'latin1')
  }

  list(sums: readonly PeriodSum[], from: number, period: number): void {
    this.#byte(OPEN)
    let isFirst = true
    for (const { index, sum } of sums) {
      if (!isFirst) this.#byte(COMMA)
      isFirst = false
      this.#time(from + index * period)
      this.#bytes.set(this.#entry, this.#at)
      this.#at += ENTRY.length
      const digits = digitsOf(sum)
      write(this.#bytes, this.#at, digits, sum)
      this.#at += digits
      this.#byte(END)
    }
    this.#byte(CLOSE)
  }

  #byte(byte: number): void {
    this.#bytes[this.#at++] = byte
  }

  /** Puts a time in milliseconds since 1970 into the entry, as ISO 8601. */
  #time(at: number): void {
    const day = dayOf(at)
    if (day !== this.#day) {
      this.#day = day
      this.#entry.write(this.#dateOf(day), DATE, 'latin1')
    }
    const ms = at - day * DAY_MS
    const seconds = Math.floor(ms / 1_000)
    const minutes = Math.floor(seconds / 60)
    const hours = Math.floor(minutes / 60)
    write(this.#entry, HOUR, 2, hours)
    write(this.#entry, MINUTE, 2, minutes - hours * 60)
    write(this.#entry, SECOND, 2, seconds - minutes * 60)
    write(this.#entry, MILLISECOND, 3, ms - seconds * 1_000)
  }

  #dateOf(day: number): string {
    const known = this.#dates.get(day)
    if (known !== undefined) return known
    const date = new Date(day * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length)
    this.#dates.set(day, date)
    return date
  }
}

function digitsOf(number: number): number {
  let digits = 1
  for (let most = 9; number > most; most = most * 10 + 9) digits++
  return digits
}

/** Writes a number with so many digits. */
function write(bytes: Buffer, at: number, digits: number, number: number): void {
  let left = number
  for (let place = at + digits - 1; place >= at; place--) {
    const rest = Math.floor(left / 10)
    bytes[place] = ZERO + left - rest * 10
    left = rest
  }
}
