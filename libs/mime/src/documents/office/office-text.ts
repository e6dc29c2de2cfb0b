import type { XmlVisitor } from '../package/xml.ts'
import { localName } from '../package/xml.ts'
import type { PlainText } from '../text/plain-text.ts'

/**
 * Elements whose content is not shown: properties, what a tracked change moved away, the older form of a drawing that
 * stands beside the newer one, and the pronunciation above a word.
 */
const UNSHOWN = new Set(['pPr', 'rPr', 'moveFrom', 'Fallback', 'rt'])

/** Characters that are elements of their own. */
const CHARACTERS: Readonly<Record<string, string>> = {
  tab: '\t',
  ptab: '\t',
  br: '\n',
  cr: '\n',
  noBreakHyphen: '-',
}

/**
 * The text of WordprocessingML and DrawingML: a line for each paragraph, and for each row of a table, whose cells are
 * separated by tabs. Deleted text and instructions of fields have elements of their own, and are left out.
 */
export class OfficeText implements XmlVisitor {
  readonly #out: PlainText
  /** Levels inside an element that is not shown. */
  #unshown = 0
  #texts = 0
  #cells = 0
  /** A paragraph of a cell ended, and the next one has not begun. */
  #isBetween = false

  constructor(out: PlainText) {
    this.#out = out
  }

  get isDone(): boolean {
    return this.#out.isFull
  }

  open(qualified: string): void {
    const name = localName(qualified)
    if (this.#unshown > 0 || UNSHOWN.has(name)) this.#unshown++
    else if (name === 't') this.#texts++
    else if (name === 'tc') {
      this.#cells++
      this.#isBetween = false
    } else if (Object.hasOwn(CHARACTERS, name)) this.#show(CHARACTERS[name] ?? '')
  }

  close(qualified: string): void {
    if (this.#unshown > 0) {
      this.#unshown--
      return
    }
    const name = localName(qualified)
    if (name === 't') this.#texts--
    else if (name === 'p') this.#endParagraph()
    else if (name === 'tc') {
      this.#cells--
      this.#isBetween = false
      this.#out.add('\t')
    } else if (name === 'tr') this.#out.add(this.#cells === 0 ? '\n' : ' ')
  }

  text(value: string): void {
    if (this.#texts > 0 && this.#unshown === 0) this.#show(value)
  }

  #show(text: string): void {
    if (this.#isBetween) this.#out.add(' ')
    this.#isBetween = false
    this.#out.add(this.#cells > 0 ? text.replaceAll('\n', ' ') : text)
  }

  #endParagraph(): void {
    if (this.#cells === 0) this.#out.add('\n')
    else this.#isBetween = true
  }
}
