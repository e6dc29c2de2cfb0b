import { documentKind } from './kind.ts'
import { readOpenDocument } from './office/open-document.ts'
import { readSheets } from './office/sheets.ts'
import { readSlides } from './office/slides.ts'
import { readWord } from './office/word.ts'
import { relationshipsOf } from './package/relationships.ts'
import { localName, readXml } from './package/xml.ts'
import { ZipPackage } from './package/zip-package.ts'
import { readRtf } from './rtf/rtf-text.ts'
import { type DocumentLimits, UnreadableDocumentError, type UnreadableReason } from './text/limits.ts'
import { PlainText } from './text/plain-text.ts'

/** What a document says, or why that cannot be read. The same bytes always have the same result. */
export type DocumentReading =
  | { readonly outcome: 'read'; readonly text: string; readonly truncated: boolean }
  | { readonly outcome: 'unreadable'; readonly reason: UnreadableReason }

/** Readers of a package of Office Open XML, by the root element of its main part. */
const OFFICE = new Map([
  ['document', readWord],
  ['workbook', readSheets],
  ['presentation', readSlides],
])

/**
 * Reads the text of a document. Whatever the bytes are, it does not throw; it may take long, or much memory, so that it
 * runs in a thread that may be ended (`createDocumentReader`). Nothing but the bytes is read: no file, no address.
 */
export async function readDocument(bytes: Buffer, limits: DocumentLimits): Promise<DocumentReading> {
  const out = new PlainText(limits.characters)
  try {
    await readInto(out, bytes, limits)
  } catch (error) {
    return { outcome: 'unreadable', reason: error instanceof UnreadableDocumentError ? error.reason : 'damaged' }
  }
  const text = out.toString()
  return text === '' ? { outcome: 'unreadable', reason: 'no_text' } : { outcome: 'read', text, truncated: out.isFull }
}

async function readInto(out: PlainText, bytes: Buffer, limits: DocumentLimits): Promise<void> {
  switch (documentKind(bytes)) {
    case 'pdf': {
      // Loaded with the first PDF: the library takes several times the memory of everything else.
      const { readPdf } = await import('./pdf/pdf-text.ts')
      return readPdf(bytes, out)
    }
    case 'rtf':
      return readRtf(bytes, out, limits)
    case 'package':
      return readPackage(await ZipPackage.open(bytes, limits), out, limits)
    default:
      throw new UnreadableDocumentError('not_a_document')
  }
}

async function readPackage(zip: ZipPackage, out: PlainText, limits: DocumentLimits): Promise<void> {
  if (zip.has('_rels/.rels')) {
    const related = await relationshipsOf(zip, '', limits.depth)
    const main = related.find(({ type }) => type === 'officeDocument')?.part
    const read = main === undefined ? undefined : OFFICE.get(await rootOf(zip, main, limits.depth))
    if (main !== undefined && read !== undefined) return read(zip, main, out, limits)
  } else if (zip.has('content.xml') && zip.has('mimetype')) return readOpenDocument(zip, out, limits)
  throw new UnreadableDocumentError('not_a_document')
}

/** The name of a part's outermost element. */
async function rootOf(zip: ZipPackage, part: string, depth: number): Promise<string> {
  let root: string | undefined
  const visitor = {
    open(name: string) {
      root ??= localName(name)
    },
    get isDone() {
      return root !== undefined
    },
  }
  await readXml(zip.read(part), visitor, depth)
  return root ?? ''
}
