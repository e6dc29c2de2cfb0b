import { Duplex } from 'node:stream'
import type { RecordWriter } from './record-writer.ts'
import { LinkError, WINDOW } from './records.ts'

type Done = (error?: Error | null) => void

export interface ChannelOptions {
  readonly id: number
  readonly writer: RecordWriter
  /** As that of a socket: false ends this side when the other has ended. */
  readonly allowHalfOpen: boolean
  /** Called once, when the channel is over. */
  readonly onClose: (channel: Channel) => void
}

/**
 * One connection over a link: a stream of bytes in both directions, of which each end may have a window on its way before
 * the other has read it. So a reader that is slow holds up nothing but its own channel, and costs no more than a window.
 */
export class Channel extends Duplex {
  readonly id: number
  readonly #writer: RecordWriter
  readonly #onClose: (channel: Channel) => void
  /** Bytes that may be sent now. */
  #credit = WINDOW
  /** What is to be sent when there is credit again. */
  #unsent: { readonly chunks: Buffer[]; readonly done: Done } | undefined
  /** Bytes that have come and are not acknowledged yet. */
  #unacknowledged = 0
  #hasEnded = false
  #isCut = false

  constructor({ id, writer, allowHalfOpen, onClose }: ChannelOptions) {
    super({ allowHalfOpen })
    this.id = id
    this.#writer = writer
    this.#onClose = onClose
  }

  /** @throws LinkError when the other end sends what it must not. */
  receive(bytes: Buffer): void {
    this.#unacknowledged += bytes.length
    if (this.#hasEnded || this.#unacknowledged > WINDOW)
      throw new LinkError('data beyond the end or window of a channel')
    this.push(bytes)
    this.#acknowledge()
  }

  /** The other end has read so many bytes. @throws LinkError for more than were sent. */
  receiveCredit(bytes: number): void {
    this.#credit += bytes
    if (this.#credit > WINDOW) throw new LinkError('credit for more than was sent')
    this.#sendRest()
  }

  /** The other end has no more bytes. */
  receiveEnd(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.push(null)
  }

  /** The other end has given up the channel, or the link is broken. */
  cut(): void {
    this.#isCut = true
    this.destroy()
  }

  /** What has come is there already. */
  override _read(): void {}

  /** Every way to read what has waited leads here. */
  override read(size?: number): unknown {
    const bytes: unknown = super.read(size)
    this.#acknowledge()
    return bytes
  }

  /** Each quarter of the window, and not each frame: that would cost as much as the frame. */
  #acknowledge(): void {
    const read = this.#unacknowledged - this.readableLength
    if (read < WINDOW / 4 || this.destroyed) return
    this.#unacknowledged -= read
    this.#writer.record('credit', this.id, read)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#send([chunk], done)
  }

  override _writev(written: readonly { readonly chunk: Buffer }[], done: Done): void {
    this.#send(
      written.map(({ chunk }) => chunk),
      done,
    )
  }

  #send(chunks: Buffer[], done: Done): void {
    this.#unsent = { chunks, done }
    this.#sendRest()
  }

  #sendRest(): void {
    if (this.#unsent === undefined) return
    const { chunks, done } = this.#unsent
    const part = takeBytes(chunks, this.#credit)
    if (part.bytes > 0) {
      this.#credit -= part.bytes
      this.#writer.data(this.id, part.chunks)
    }
    if (chunks.length > 0) return
    this.#unsent = undefined
    done()
  }

  override _final(done: Done): void {
    this.#writer.record('end', this.id)
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    const isOver = this.#hasEnded && this.writableFinished
    if (!this.#isCut && !isOver) this.#writer.record('abort', this.id)
    this.#onClose(this)
    this.#unsent?.done(error ?? new Error('the channel was closed before all was sent'))
    this.#unsent = undefined
    done(error)
  }
}

/** Takes up to so many bytes from the front of `chunks`. */
function takeBytes(chunks: Buffer[], most: number): { readonly chunks: Buffer[]; readonly bytes: number } {
  const taken: Buffer[] = []
  let bytes = 0
  for (let chunk = chunks[0]; chunk !== undefined && bytes + chunk.length <= most; chunk = chunks[0]) {
    taken.push(chunk)
    bytes += chunk.length
    chunks.shift()
  }
  const [next] = chunks
  if (next !== undefined && bytes < most) {
    taken.push(next.subarray(0, most - bytes))
    chunks[0] = next.subarray(most - bytes)
    bytes = most
  }
  return { chunks: taken, bytes }
}
