import { localName, type XmlVisitor } from '../package/xml.ts'
import type { PlainText } from '../text/plain-text.ts'
import type { NumberFormats } from './number-formats.ts'
import type { SharedStrings } from './shared-strings.ts'

/** Empty cells between two others that are shown as tabs. */
const MOST_GAP = 100
const LETTER_A = 64

interface Cell {
  /** `s`, `str`, `inlineStr`, `b`, `e`, `d`, or `n` for a number (ECMA-376 part 1, 18.18.11). */
  readonly type: string
  readonly style: number
  readonly column: number
}

/** The cells of a sheet: a line for each row that has any, whose cells are separated by tabs, as the sheet shows them. */
export class SheetText implements XmlVisitor {
  readonly #out: PlainText
  readonly #strings: SharedStrings
  readonly #formats: NumberFormats
  #cell: Cell | undefined
  #value = ''
  #isValue = false
  /** The column after the last cell that was shown, and after the last one at all. */
  #column = 1
  #next = 1

  constructor(out: PlainText, { strings, formats }: { strings: SharedStrings; formats: NumberFormats }) {
    this.#out = out
    this.#strings = strings
    this.#formats = formats
  }

  get isDone(): boolean {
    return this.#out.isFull
  }

  open(qualified: string, { r = '', t = 'n', s = '0' }: Readonly<Record<string, string>>): void {
    const name = localName(qualified)
    if (name === 'row') {
      this.#column = 1
      this.#next = 1
    } else if (name === 'c') {
      const column = columnOf(r) ?? this.#next
      this.#next = column + 1
      this.#cell = { type: t, style: Number(s), column }
      this.#value = ''
    } else this.#isValue = name === 'v' || name === 't'
  }

  close(qualified: string): void {
    const name = localName(qualified)
    if (name === 'v' || name === 't') this.#isValue = false
    else if (name === 'c') this.#endCell()
    else if (name === 'row' && this.#column > 1) this.#out.add('\n')
  }

  text(value: string): void {
    if (this.#isValue && this.#cell !== undefined) this.#value += value
  }

  #endCell(): void {
    const cell = this.#cell
    this.#cell = undefined
    if (cell === undefined) return
    const shown = this.#shown(cell).replace(/\s+/g, ' ').trim()
    if (shown === '') return
    this.#out.add('\t'.repeat(Math.min(Math.max(0, cell.column - this.#column), MOST_GAP)))
    this.#out.add(`${shown}\t`)
    this.#column = cell.column + 1
  }

  #shown({ type, style }: Cell): string {
    if (this.#value === '') return ''
    if (type === 's') return this.#strings.at(Number(this.#value))
    if (type === 'b') return this.#value === '1' ? 'TRUE' : 'FALSE'
    const number = Number(this.#value)
    return type === 'n' && Number.isFinite(number) ? this.#formats.shown(number, style) : this.#value
  }
}

/** The number of the column that a reference such as `AB12` names. */
function columnOf(reference: string): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0]
  if (letters === undefined) return undefined
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - LETTER_A, 0)
}
