import { TextDecoder } from 'node:util'
import { Parser } from 'htmlparser2'
import { UnreadableDocumentError } from '../text/limits.ts'

/** Attributes of an element by their name, with its prefix. */
export type XmlAttributes = Readonly<Record<string, string>>

/** Callbacks in the order of the document. Names are as written, with their prefix. */
export interface XmlVisitor {
  open?(name: string, attributes: XmlAttributes): void
  close?(name: string): void
  text?(value: string): void
  /** The document ends before its elements do. */
  cutOff?(): void
  /** Once true, the rest is not read. */
  readonly isDone?: boolean
}

/**
 * Reads XML as it arrives, without building a tree. It knows the five entities of XML and numeric ones only, and reads no
 * document type: nothing is expanded and nothing else is read.
 * @throws UnreadableDocumentError when elements are nested too deeply; whatever `content` throws
 */
export async function readXml(content: AsyncIterable<Buffer>, visitor: XmlVisitor, depth: number): Promise<void> {
  let open = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++open > depth) throw new UnreadableDocumentError('damaged')
        if (!visitor.isDone) visitor.open?.(name, attributes)
      },
      onclosetag(name) {
        open--
        if (!visitor.isDone) visitor.close?.(name)
      },
      ontext(value) {
        if (!visitor.isDone) visitor.text?.(value)
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  let decoder: TextDecoder | undefined
  for await (const piece of content) {
    decoder ??= new TextDecoder(encodingOf(piece))
    parser.write(decoder.decode(piece, { stream: true }))
    if (visitor.isDone) return
  }
  parser.write(decoder?.decode() ?? '')
  if (open > 0) visitor.cutOff?.()
  parser.end()
}

/** A name without its prefix: producers choose different ones for the same namespace. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** UTF-16 has a byte order mark; anything else in these formats is UTF-8 (XML 1.0, 4.3.3). */
function encodingOf(start: Buffer): string {
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  return start[0] === 0xff && start[1] === 0xfe ? 'utf-16le' : 'utf-8'
}
