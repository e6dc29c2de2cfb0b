import { dateFromSerial, format, getFormatDateInfo, getFormatFromId } from 'numfmt'
import { localName, type XmlVisitor } from '../package/xml.ts'

const GENERAL = 'General'
const LOCALE = 'en-US'
/** A longer format is no honest one. */
const LONGEST_FORMAT = 255
/** A workbook has at most 64,000 formats of cells (Excel). */
const MOST_STYLES = 65_536
/** Days between 1900 and 1904, from which some workbooks count. */
const DAYS_TO_1904 = 1462

/** How the numbers of a workbook are shown, by the style of their cell. Reads the part `styles`. */
export class NumberFormats implements XmlVisitor {
  /** The first day that dates count from is in 1904 instead of 1900. */
  isFrom1904 = false
  readonly #own = new Map<number, string>()
  /** Format ids, by the number of the style. */
  readonly #styles: number[] = []
  #isInStyles = false

  open(qualified: string, { numFmtId, formatCode }: Readonly<Record<string, string>>): void {
    const name = localName(qualified)
    if (name === 'cellXfs') this.#isInStyles = true
    const id = Number(numFmtId)
    if (name === 'numFmt' && formatCode !== undefined && formatCode.length <= LONGEST_FORMAT) {
      this.#own.set(id, formatCode)
    } else if (name === 'xf' && this.#isInStyles && this.#styles.length < MOST_STYLES) this.#styles.push(id)
  }

  close(qualified: string): void {
    if (localName(qualified) === 'cellXfs') this.#isInStyles = false
  }

  /** A number as its cell shows it; a date as `2026-11-23`, because its order of day and month is not in the file. */
  shown(value: number, style: number): string {
    const id = this.#styles[style] ?? 0
    const pattern = this.#own.get(id) ?? getFormatFromId(id, LOCALE) ?? GENERAL
    if (pattern === GENERAL) return general(value)
    const { year, month, day, hours } = getFormatDateInfo(pattern)
    if (year || month || day) return this.#date(value, hours)
    return format(pattern, value, { throws: false, invalid: general(value), overflow: general(value), locale: LOCALE })
  }

  #date(value: number, withTime: boolean): string {
    const [year, month, day, hour, minute, second] = dateFromSerial(value + (this.isFrom1904 ? DAYS_TO_1904 : 0))
    if (year === undefined || !(year >= 1900)) return general(value)
    const date = [year, pad(month), pad(day)].join('-')
    return withTime ? `${date} ${[hour, minute, second].map(pad).join(':')}` : date
  }
}

/** All digits that a spreadsheet knows, so that order numbers stay whole. */
function general(value: number): string {
  return String(Number(value.toPrecision(15)))
}

function pad(part = 0): string {
  return String(part).padStart(2, '0')
}
