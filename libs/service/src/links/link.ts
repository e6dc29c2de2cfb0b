import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Channel } from './channel.ts'
import { RecordWriter } from './record-writer.ts'
import { LinkError, type LinkRecord, RecordReader } from './records.ts'

const PING_MS = 10_000
/** Pings that may be missing. A host that is gone closes no connection, and TCP tells late. */
const MISSING_PINGS = 3

export interface LinkOptions {
  /** The connection, on which the link begins with the next byte. */
  readonly socket: Socket
  /** What was read of it already. */
  readonly head: Buffer
  /** Takes the channels that the other end opens. Without it only this end opens channels. */
  readonly accept?: (channel: Duplex) => void
  /** How often each end shows that it lives, in milliseconds. Default 10,000. */
  readonly pingMs?: number
  /** Called once, when the link is closed and all of its channels with it. @param reason why, unless an end has closed it. */
  readonly onClose: (reason: Error | undefined) => void
}

/**
 * Many connections over one: each is a channel, which one end opens and the other accepts. Bytes that go out on many channels
 * at once cross it once. Channels are independent of each other, until the connection breaks under all of them.
 */
export class Link {
  /** When it was made, by the clock of `performance`. */
  readonly begun = performance.now()
  readonly #socket: Socket
  readonly #writer: RecordWriter
  readonly #accept: LinkOptions['accept']
  readonly #channels = new Map<number, Channel>()
  /** Channels are numbered as they are opened, and no number is used again: records for closed channels may be on their way. */
  #opened = 0
  #isRetired = false
  #silentPings = 0

  constructor({ socket, head, accept, pingMs = PING_MS, onClose }: LinkOptions) {
    this.#socket = socket
    this.#accept = accept
    this.#writer = new RecordWriter(socket)
    socket.setTimeout(0)
    socket.setNoDelay(true)
    const reader = new RecordReader((record) => this.#take(record))
    const beating = setInterval(() => this.#beat(), pingMs)
    let reason: Error | undefined
    socket.on('error', (error) => {
      reason = error
    })
    socket.on('data', (chunk: Buffer) => this.#read(reader, chunk))
    socket.once('end', () => socket.destroy())
    socket.once('close', () => {
      clearInterval(beating)
      for (const channel of this.#channels.values()) channel.cut()
      onClose(reason)
    })
    if (head.length > 0) socket.unshift(head)
  }

  /** Whether it takes new channels. */
  get isOpen(): boolean {
    return !this.#isRetired && !this.#socket.destroyed
  }

  /** Number of channels. */
  get size(): number {
    return this.#channels.size
  }

  /** Opens a channel. The link must be open. */
  open(): Duplex {
    const channel = this.#add(false)
    this.#writer.record('open', channel.id)
    return channel
  }

  /** Asks the other end to open no more channels, and to close the link after the last. */
  leave(): void {
    this.#writer.record('leaving')
  }

  /** Opens no more channels. The link closes after the last. */
  retire(): void {
    this.#isRetired = true
    this.#closeIfOver()
  }

  /** Closes the link, and all channels with it. */
  close(): void {
    this.#socket.destroy()
  }

  #add(allowHalfOpen: boolean): Channel {
    const id = ++this.#opened
    const onClose = (): void => {
      this.#channels.delete(id)
      this.#closeIfOver()
    }
    const channel = new Channel({ id, writer: this.#writer, allowHalfOpen, onClose })
    this.#channels.set(id, channel)
    return channel
  }

  #closeIfOver(): void {
    if (this.#isRetired && this.#channels.size === 0) this.#socket.end()
  }

  #read(reader: RecordReader, chunk: Buffer): void {
    this.#silentPings = 0
    try {
      reader.read(chunk)
    } catch (error) {
      if (!(error instanceof LinkError)) throw error
      this.#socket.destroy(error)
    }
  }

  #take(record: LinkRecord): void {
    switch (record.kind) {
      case 'data':
        for (const id of record.channels) this.#find(id)?.receive(record.bytes)
        break
      case 'credit':
        this.#find(record.channel)?.receiveCredit(record.bytes)
        break
      case 'open':
        this.#admit(record.channel)
        break
      case 'end':
        this.#find(record.channel)?.receiveEnd()
        break
      case 'abort':
        this.#find(record.channel)?.cut()
        break
      case 'leaving':
        this.retire()
        break
      case 'ping':
        break
    }
  }

  /** `undefined` for a channel that is closed here: the other end does not know yet. */
  #find(id: number): Channel | undefined {
    if (id > this.#opened || id === 0) throw new LinkError('a channel that was never opened')
    return this.#channels.get(id)
  }

  #admit(id: number): void {
    if (this.#accept === undefined || id !== this.#opened + 1) throw new LinkError('a channel that may not be opened')
    this.#accept(this.#add(true))
  }

  #beat(): void {
    if (++this.#silentPings > MISSING_PINGS) {
      this.#socket.destroy(new LinkError('the other end of the link is silent'))
      return
    }
    this.#writer.record('ping')
  }
}
