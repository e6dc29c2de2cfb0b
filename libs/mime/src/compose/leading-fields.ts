import { Readable } from 'node:stream'
import { type DkimKeys, prepend } from './dkim.ts'

/** A mail as it is sent to one recipient. */
export interface LedMail {
  readonly content: Readable
  /** How many bytes it has more, or fewer, than the mail that was read. */
  readonly difference: number
}

const END_OF_HEADER = Buffer.from('\r\n\r\n')

/**
 * Puts fields in front of a mail of this installation and replaces its signatures. Only the header is held in memory; the
 * body is streamed, and its hash is taken from the existing signature.
 * @param fields each with its line break.
 * @throws Error what reading throws; SigningError
 */
export async function withLeadingFields(mail: Readable, fields: string, keys: DkimKeys | undefined): Promise<LedMail> {
  const chunks: AsyncIterator<Buffer> = mail[Symbol.asyncIterator]()
  try {
    const { header, rest } = await readHeader(chunks)
    const led = await prepend(header, fields, keys)
    const content = Readable.from(following([led, rest], chunks), { objectMode: false })
    // A generator that was never begun does not end what it reads.
    content.once('close', () => mail.destroy())
    return { content, difference: led.length - header.length }
  } catch (error) {
    mail.destroy()
    throw error
  }
}

async function readHeader(chunks: AsyncIterator<Buffer>): Promise<{ header: Buffer; rest: Buffer }> {
  let read: Buffer = Buffer.alloc(0)
  for (let end = -1; ; ) {
    const { value, done } = await chunks.next()
    // A line break that the header could end with may be divided between two chunks.
    const from = Math.max(0, read.length - END_OF_HEADER.length)
    if (done !== true) read = Buffer.concat([read, value])
    end = read.indexOf(END_OF_HEADER, from)
    if (end < 0 && done !== true) continue
    const length = end < 0 ? read.length : end + END_OF_HEADER.length
    return { header: read.subarray(0, length), rest: read.subarray(length) }
  }
}

async function* following(start: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  yield* start.filter(({ length }) => length > 0)
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}
