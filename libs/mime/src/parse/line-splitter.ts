import { type MimeNode, Splitter } from '@zone-eu/mailsplit'
import type { ParseLimits } from '../limits/limits.ts'

interface Chunk {
  readonly type: string
  readonly node?: MimeNode
}

type ProcessLine = (
  this: Splitter,
  line: Buffer,
  final: boolean,
  next: (error?: Error | null, chunk?: Chunk | MimeNode | false, flush?: boolean) => void,
) => void

/**
 * mailsplit's own step for one line. Its typings only have the stream around it, which answers in later turns of the
 * event loop, copies every body and reports no offsets.
 */
const processLine: ProcessLine = Reflect.get(Splitter.prototype, 'processLine')

/** What a line means for the structure of the mail. */
export type LineMeaning =
  | { readonly kind: 'content' }
  /** The header of this part is complete. */
  | { readonly kind: 'header'; readonly node: MimeNode }
  /** A delimiter after which reading continues in this part. */
  | { readonly kind: 'delimiter'; readonly node: MimeNode; readonly isNew: boolean }
  /** The library refuses to continue. */
  | { readonly kind: 'stop' }

/** Drives mailsplit line by line. */
export class LineSplitter {
  readonly #splitter: Splitter

  constructor({ headerBytes, parts }: ParseLimits) {
    this.#splitter = new Splitter({
      ignoreEmbedded: true,
      // Above what is fed to it: its own limits end the parse instead of shortening it.
      maxHeadSize: 2 * headerBytes,
      maxChildNodes: parts + 1,
    })
  }

  /** @param final whether this is the last line: an incomplete header ends here. */
  read(line: Buffer, final = false): LineMeaning {
    let meaning: LineMeaning = { kind: 'stop' }
    try {
      processLine.call(this.#splitter, line, final, (error, chunk, isNew = false) => {
        if (!error) meaning = meaningOf(chunk, isNew)
      })
    } catch {
      return { kind: 'stop' }
    }
    return meaning
  }
}

function meaningOf(chunk: Chunk | MimeNode | false | undefined, isNew: boolean): LineMeaning {
  if (!chunk) return { kind: 'content' }
  if ('parseHeaders' in chunk) return { kind: 'header', node: chunk }
  return chunk.type === 'data' && chunk.node ? { kind: 'delimiter', node: chunk.node, isNew } : { kind: 'content' }
}
