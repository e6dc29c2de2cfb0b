/**
 * Bytes that may be on their way on a channel, in each direction: sent, and not acknowledged yet. A process that is busy
 * for some milliseconds must not make a reader look slow, and one that is slow must not cost much memory.
 */
export const WINDOW = 256 * 1024
/** Most channels in one record of data. */
export const MOST_CHANNELS = 4_096

/**
 * What one end of a link tells the other. On the wire a record is a byte for its kind and two numbers of 32 bits; after
 * those of `data` come the channels and the bytes.
 */
export type LinkRecord =
  /** The same bytes, on each of these channels. Numbers: how many channels, how many bytes. */
  | { readonly kind: 'data'; readonly channels: readonly number[]; readonly bytes: Buffer }
  /** So many bytes of a channel were read, and as many more may be sent. Numbers: channel, bytes. */
  | { readonly kind: 'credit'; readonly channel: number; readonly bytes: number }
  /** A channel begins, has no more bytes in this direction, or is cut. Number: channel. */
  | { readonly kind: 'open' | 'end' | 'abort'; readonly channel: number }
  /** No more channels are wanted on this link; or only a sign of life. */
  | { readonly kind: 'leaving' | 'ping' }

/** The other end of a link breaks the rules, or is silent. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
}

/** The byte of a kind is its place in this list, to which kinds are only added. */
const KINDS = ['data', 'credit', 'open', 'end', 'abort', 'leaving', 'ping'] as const
const HEAD_BYTES = 9
const CHANNEL_BYTES = 4

/** The beginning of a record of data, before its bytes. */
export function headOfData(channels: readonly number[], bytes: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES + channels.length * CHANNEL_BYTES)
  let at = writeHead(head, 'data', channels.length, bytes)
  for (const channel of channels) at = head.writeUInt32BE(channel, at)
  return head
}

/** A record without a body. */
export function bareRecord(kind: Exclude<LinkRecord['kind'], 'data'>, channel = 0, bytes = 0): Buffer {
  const record = Buffer.allocUnsafe(HEAD_BYTES)
  writeHead(record, kind, channel, bytes)
  return record
}

function writeHead(target: Buffer, kind: LinkRecord['kind'], first: number, second: number): number {
  return target.writeUInt32BE(second, target.writeUInt32BE(first, target.writeUInt8(KINDS.indexOf(kind))))
}

/** Reads records from the bytes of a link, which may be split anywhere. */
export class RecordReader {
  readonly #take: (record: LinkRecord) => void
  readonly #head = Buffer.alloc(HEAD_BYTES)
  #headBytes = 0
  /**
   * The body that has begun. It has memory of its own: a part of what the socket has read would keep all of that for as
   * long as one slow client has not taken it.
   */
  #body: Buffer | undefined
  #bodyBytes = 0

  /** @param take gets each record as soon as it is complete. */
  constructor(take: (record: LinkRecord) => void) {
    this.#take = take
  }

  /**
   * Takes the bytes that follow those of the previous call.
   * @throws LinkError for what is no record, before anything is kept of it.
   */
  read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#body === undefined) {
        const copied = chunk.copy(this.#head, this.#headBytes, at)
        at += copied
        this.#headBytes += copied
        if (this.#headBytes === HEAD_BYTES) this.#endHead()
      } else {
        const copied = chunk.copy(this.#body, this.#bodyBytes, at)
        at += copied
        this.#bodyBytes += copied
        if (this.#bodyBytes === this.#body.length) this.#endBody(this.#body)
      }
    }
  }

  #endHead(): void {
    this.#headBytes = 0
    const kind = KINDS[this.#head.readUInt8()]
    const [first, second] = [this.#head.readUInt32BE(1), this.#head.readUInt32BE(5)]
    switch (kind) {
      case 'data':
        if (first === 0 || first > MOST_CHANNELS) throw new LinkError(`data for ${first} channels`)
        if (second === 0 || second > WINDOW) throw new LinkError(`data of ${second} bytes`)
        this.#body = Buffer.allocUnsafeSlow(first * CHANNEL_BYTES + second)
        this.#bodyBytes = 0
        break
      case 'credit':
        this.#take({ kind, channel: first, bytes: second })
        break
      case 'open':
      case 'end':
      case 'abort':
        this.#take({ kind, channel: first })
        break
      case 'leaving':
      case 'ping':
        this.#take({ kind })
        break
      default:
        throw new LinkError('a record of an unknown kind')
    }
  }

  #endBody(body: Buffer): void {
    const count = this.#head.readUInt32BE(1)
    const channels = Array.from({ length: count }, (_, index) => body.readUInt32BE(index * CHANNEL_BYTES))
    this.#body = undefined
    this.#take({ kind: 'data', channels, bytes: body.subarray(count * CHANNEL_BYTES) })
  }
}
