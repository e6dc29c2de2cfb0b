import type { CountedEventType, UsageType } from '@restante/contracts/vocabulary'
import type { Grid } from '../series/grid.ts'
import { DAY_MS, dayOf } from '../series/series.ts'
import type { PeriodSum } from '../series/sums.ts'
import type { Measured } from './usage.ts'

const [COMMA, MINUS, ZERO, END] = [0x2c, 0x2d, 0x30, 0x7d]

/** Where the time of an entry and the parts of that are. */
const DATE = '{"timestamp":"'.length
const [HOUR, MINUTE, SECOND, MILLISECOND] = [DATE + 11, DATE + 14, DATE + 17, DATE + 20]
/** The longest name of a type, with what is around it. */
const NAME_BYTES = 64
/** A sign, the digits of the largest safe integer, and what follows them. */
const NUMBER_BYTES = 19

/**
 * Writes an answer about events as JSON: every type with its entries, in the order in which they were found. An answer has ten
 * thousand entries; as objects and strings they cost twice as much, and most of the garbage of this service.
 */
export function writeEvents(
  types: readonly CountedEventType[],
  found: ReadonlyMap<CountedEventType, readonly PeriodSum[]>,
  { from, period }: Pick<Grid, 'from' | 'period'>,
): Buffer {
  const at = (index: number) => from + index * period
  return writeSeries('count', types, found, ({ index, sum }, write) => write(at(index), sum))
}

/** The same about running totals. */
export function writeUsage(types: readonly UsageType[], found: ReadonlyMap<UsageType, readonly Measured[]>): Buffer {
  return writeSeries('value', types, found, ({ at, value }, write) => write(at, value))
}

function writeSeries<Type extends string, Entry>(
  member: string,
  types: readonly Type[],
  found: ReadonlyMap<Type, readonly Entry[]>,
  writeEntry: (entry: Entry, write: (at: number, number: number) => void) => void,
): Buffer {
  const lists = types.map((type) => ({ type, entries: found.get(type) ?? [] }))
  const count = lists.reduce((sum, { entries }) => sum + entries.length, 0)
  const writer = new Writer(member, { lists: lists.length, entries: count })
  let before = '{'
  for (const { type, entries } of lists) {
    writer.text(`${before}"${type}":[`)
    writer.begin()
    for (const entry of entries) writeEntry(entry, writer.entry)
    writer.text(']')
    before = ','
  }
  writer.text(before === '{' ? '{}' : '}')
  return writer.bytes
}

class Writer {
  readonly #bytes: Buffer
  #at = 0
  /** An entry up to its number. */
  readonly #entry: Buffer
  #isFirst = true
  /** How days are written: each type has mostly the same ones. */
  readonly #dates = new Map<number, string>()
  /** The day that the entry has now. */
  #day = Number.NaN

  constructor(member: string, most: { readonly lists: number; readonly entries: number }) {
    this.#entry = Buffer.from(`{"timestamp":"0000-00-00T00:00:00.000Z","${member}":`)
    this.#bytes = Buffer.allocUnsafe(NAME_BYTES * (most.lists + 1) + (this.#entry.length + NUMBER_BYTES) * most.entries)
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  text(text: string): void {
    this.#at += this.#bytes.write(text, this.#at, 'latin1')
  }

  /** The next entry is the first of a list. */
  begin(): void {
    this.#isFirst = true
  }

  readonly entry = (at: number, number: number): void => {
    if (!this.#isFirst) this.#byte(COMMA)
    this.#isFirst = false
    this.#time(at)
    this.#bytes.set(this.#entry, this.#at)
    this.#at += this.#entry.length
    if (number < 0) this.#byte(MINUS)
    const size = Math.abs(number)
    const digits = digitsOf(size)
    write(this.#bytes, this.#at, digits, size)
    this.#at += digits
    this.#byte(END)
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
    bytes[place] = ZERO + (left - rest * 10)
    left = rest
  }
}
