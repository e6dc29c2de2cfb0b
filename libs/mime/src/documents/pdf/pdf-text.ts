import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { getDocument, PasswordException, type PDFDocumentProxy, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { UnreadableDocumentError } from '../text/limits.ts'
import type { PlainText } from '../text/plain-text.ts'

/** Damaged pages that are passed over; with more, the rest is not read. */
const MOST_DAMAGED = 20
/**
 * Tables of the library from codes to characters, which East Asian documents name without containing them. The library
 * looks a name up in its own list before it opens a file.
 */
const CMAPS = fileURLToPath(new URL('../../cmaps/', import.meta.resolve('pdfjs-dist/legacy/build/pdf.mjs')))

/**
 * The text of a PDF in the order of its pages, separated by empty lines.
 * @throws UnreadableDocumentError when it needs a password; any error when it is damaged
 */
export async function readPdf(bytes: Buffer, out: PlainText): Promise<void> {
  const loading = getDocument({
    // A copy: the library takes what it is given away from the caller.
    data: new Uint8Array(bytes),
    cMapUrl: CMAPS + path.sep,
    cMapPacked: true,
    // Nothing is drawn or fetched, and no form of the older kind is laid out.
    disableFontFace: true,
    useSystemFonts: false,
    useWasm: false,
    enableXfa: false,
    verbosity: VerbosityLevel.ERRORS,
  })
  try {
    await readPages(await loading.promise, out)
  } catch (error) {
    if (error instanceof PasswordException) throw new UnreadableDocumentError('encrypted')
    throw error
  } finally {
    await loading.destroy()
  }
}

async function readPages(pdf: PDFDocumentProxy, out: PlainText): Promise<void> {
  for (let number = 1, damaged = 0; number <= pdf.numPages && damaged < MOST_DAMAGED && !out.isFull; number++) {
    try {
      await readPage(pdf, number, out)
    } catch {
      damaged++
    }
    out.add('\n\n')
  }
}

async function readPage(pdf: PDFDocumentProxy, number: number, out: PlainText): Promise<void> {
  const page = await pdf.getPage(number)
  for await (const { items } of page.streamTextContent()) {
    for (const item of items) {
      if ('str' in item) out.add(item.hasEOL ? `${item.str}\n` : item.str)
    }
    if (out.isFull) break
  }
  page.cleanup()
}
