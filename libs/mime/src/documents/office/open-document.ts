import { readXml, type XmlAttributes, type XmlVisitor } from '../package/xml.ts'
import type { ZipPackage } from '../package/zip-package.ts'
import { type DocumentLimits, UnreadableDocumentError } from '../text/limits.ts'
import type { PlainText } from '../text/plain-text.ts'

/** Elements whose content is not shown, or says nothing: deleted text, numbers of notes and pages, who wrote a comment. */
const UNSHOWN = new Set([
  'text:tracked-changes',
  'text:note-citation',
  'text:page-number',
  'text:page-count',
  'text:ruby-text',
  'dc:creator',
  'dc:date',
  'office:forms',
])
const PARAGRAPHS = new Set(['text:p', 'text:h'])
const CELLS = new Set(['table:table-cell', 'table:covered-table-cell'])
/** Repetitions of a cell, and of a blank, that are shown. A sheet repeats the last empty cell up to its edge. */
const MOST_REPEATED = 100
/** Characters of a cell or row. */
const LONGEST = 1_000_000

/**
 * The text of a document, a spreadsheet or slides: a line for each paragraph, and for each row of a table, whose cells are
 * separated by tabs. Sheets are under their name (ODF 1.3 part 3).
 * @throws UnreadableDocumentError when it is encrypted
 */
export async function readOpenDocument(zip: ZipPackage, out: PlainText, { depth }: DocumentLimits): Promise<void> {
  const manifest = {
    open(name: string) {
      if (name.endsWith('encryption-data')) throw new UnreadableDocumentError('encrypted')
    },
  }
  await readXml(zip.read('META-INF/manifest.xml'), manifest, depth)
  await readXml(zip.read('content.xml'), new OpenDocumentText(out), depth)
}

/** A cell or a row that is open. */
interface Frame {
  readonly repeated: number
  text: string
}

const NOTHING: Frame = { repeated: 0, text: '' }

class OpenDocumentText implements XmlVisitor {
  readonly #out: PlainText
  #unshown = 0
  #paragraphs = 0
  /** Rows and cells that are open, one inside the other. */
  readonly #frames: Frame[] = []
  /** Repetitions of empty cells that are shown only when another follows in the row. */
  #empty = 0
  #isSpreadsheet = false

  constructor(out: PlainText) {
    this.#out = out
  }

  get isDone(): boolean {
    return this.#out.isFull
  }

  open(name: string, attributes: XmlAttributes): void {
    if (this.#unshown > 0 || UNSHOWN.has(name)) this.#unshown++
    else if (PARAGRAPHS.has(name)) this.#openParagraph()
    else if (CELLS.has(name)) this.#openFrame(attributes['table:number-columns-repeated'])
    else if (name === 'table:table-row') this.#openFrame(attributes['table:number-rows-repeated'])
    else if (name === 'text:s') this.#show(' '.repeat(times(attributes['text:c'])))
    else if (name === 'text:tab') this.#show('\t')
    else if (name === 'text:line-break') this.#show('\n')
    else if (name === 'text:note') this.#show(' [')
    else if (name === 'office:spreadsheet') this.#isSpreadsheet = true
    else if (name === 'table:table' && this.#isSpreadsheet) this.#out.add(`\n\n${attributes['table:name'] ?? ''}\n`)
  }

  close(name: string): void {
    if (this.#unshown > 0) {
      this.#unshown--
      return
    }
    if (PARAGRAPHS.has(name)) this.#closeParagraph()
    else if (CELLS.has(name)) this.#closeCell()
    else if (name === 'table:table-row') this.#closeRow()
    else if (name === 'text:note') this.#show('] ')
    else if (name === 'draw:page') this.#show('\n')
  }

  text(value: string): void {
    if (this.#paragraphs > 0 && this.#unshown === 0) this.#show(value.replace(/\s+/g, ' '))
  }

  #openParagraph(): void {
    const frame = this.#frames.at(-1)
    if (this.#paragraphs === 0 && frame !== undefined && frame.text !== '') frame.text += ' '
    this.#paragraphs++
  }

  #closeParagraph(): void {
    this.#paragraphs--
    if (this.#paragraphs === 0 && this.#frames.length === 0) this.#out.add('\n')
  }

  #show(text: string): void {
    const frame = this.#frames.at(-1)
    if (frame === undefined) this.#out.add(text)
    else frame.text = (frame.text + text.replaceAll('\n', ' ')).slice(0, LONGEST)
  }

  #openFrame(repeated: string | undefined): void {
    this.#frames.push({ repeated: times(repeated), text: '' })
  }

  #closeCell(): void {
    const { repeated, text } = this.#frames.pop() ?? NOTHING
    const shown = text.trim()
    if (shown === '') {
      this.#empty = Math.min(MOST_REPEATED, this.#empty + repeated)
      return
    }
    this.#show('\t'.repeat(this.#empty) + repeat(`${shown}\t`, repeated))
    this.#empty = 0
  }

  #closeRow(): void {
    const { repeated, text } = this.#frames.pop() ?? NOTHING
    this.#empty = 0
    if (text !== '') this.#show(repeat(`${text}\n`, repeated))
  }
}

function repeat(text: string, times: number): string {
  return text.repeat(Math.min(times, Math.ceil(LONGEST / text.length)))
}

function times(attribute = '1'): number {
  return Math.min(MOST_REPEATED, Math.max(1, Number.parseInt(attribute, 10) || 1))
}
