import type { Socket } from 'node:net'
import { bareRecord, headOfData, type LinkRecord, MOST_CHANNELS } from './records.ts'

/**
 * Writes the records of a link, in order, those of one turn of the event loop together. What is written on one channel
 * after another with the same bytes, as a broadcast is, becomes one record.
 */
export class RecordWriter {
  readonly #socket: Socket
  /** The record of data that is not written yet, because more channels may follow: empty without channels. */
  #channels: number[] = []
  #chunks: readonly Buffer[] = []
  #holds = false

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** @param chunks at least a byte, and at most a window together. They must not change any more. */
  data(channel: number, chunks: readonly Buffer[]): void {
    if (!this.#socket.writable) return
    if (this.#channels.length === MOST_CHANNELS || !areSame(chunks, this.#chunks)) this.#writeData()
    this.#chunks = chunks
    this.#channels.push(channel)
    this.#hold()
  }

  /** Writes a record without a body. */
  record(kind: Exclude<LinkRecord['kind'], 'data'>, channel?: number, bytes?: number): void {
    if (!this.#socket.writable) return
    this.#writeData()
    this.#hold()
    this.#socket.write(bareRecord(kind, channel, bytes))
  }

  /** What it writes is held already. */
  #writeData(): void {
    if (this.#channels.length === 0) return
    const bytes = this.#chunks.reduce((sum, { length }) => sum + length, 0)
    this.#socket.write(headOfData(this.#channels, bytes))
    for (const chunk of this.#chunks) this.#socket.write(chunk)
    this.#channels = []
    this.#chunks = []
  }

  #hold(): void {
    if (this.#holds) return
    this.#holds = true
    this.#socket.cork()
    process.nextTick(() => {
      this.#writeData()
      this.#holds = false
      this.#socket.uncork()
    })
  }
}

/** The head of a frame is made for each channel, and its document shared by all. */
function areSame(some: readonly Buffer[], others: readonly Buffer[]): boolean {
  return some.length === others.length && some.every((chunk, index) => isSame(chunk, others[index]))
}

function isSame(chunk: Buffer, other: Buffer | undefined): boolean {
  return chunk === other || (other !== undefined && chunk.equals(other))
}
