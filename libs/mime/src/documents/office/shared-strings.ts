import { localName, type XmlVisitor } from '../package/xml.ts'

/**
 * Strings and characters that are kept. Strings are listed about in the order in which cells use them, so that text beyond
 * this would hardly be shown.
 */
const MOST_STRINGS = 500_000
const MOST_CHARACTERS = 4_000_000

/** The strings that the cells of a workbook name by number (ECMA-376 part 1, 18.4). Reads the part `sharedStrings`. */
export class SharedStrings implements XmlVisitor {
  readonly #strings: string[] = []
  #characters = 0
  #current = ''
  #isText = false
  /** Inside the pronunciation of a string. */
  #isPhonetic = false

  get isDone(): boolean {
    return this.#strings.length >= MOST_STRINGS || this.#characters >= MOST_CHARACTERS
  }

  open(qualified: string): void {
    const name = localName(qualified)
    if (name === 'si') this.#current = ''
    else if (name === 'rPh') this.#isPhonetic = true
    else if (name === 't') this.#isText = !this.#isPhonetic
  }

  close(qualified: string): void {
    const name = localName(qualified)
    if (name === 't') this.#isText = false
    else if (name === 'rPh') this.#isPhonetic = false
    else if (name === 'si') this.#strings.push(this.#current)
  }

  text(value: string): void {
    if (!this.#isText) return
    this.#current += value
    this.#characters += value.length
  }

  /** The string with that number; empty for one that does not exist. */
  at(index: number): string {
    return this.#strings[index] ?? ''
  }
}
