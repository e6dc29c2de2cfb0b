import { once } from 'node:events'
import { type ClientOptions, WebSocket } from 'ws'
import { type WaitOptions, waitFor } from '../timing/wait-for.ts'

/** One frame of the server, parsed. */
export type Frame = Readonly<Record<string, unknown>>

/** The stream as a plain WebSocket client sees it: every frame and the close code are kept. */
export class StreamClient {
  readonly frames: Frame[] = []
  closed: { readonly code: number; readonly reason: string } | undefined
  readonly #socket: WebSocket

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => this.frames.push(parse(data.toString())))
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
    })
    // A broken connection is visible in its close code.
    socket.on('error', () => undefined)
  }

  /** Calls a function for every further frame. */
  listen(listener: (frame: Frame) => void): void {
    this.#socket.on('message', (data) => listener(parse(data.toString())))
  }

  /** Opens a stream. @throws HandshakeRefusedError with the status and body of the response. */
  static async open(url: string, options: ClientOptions = {}): Promise<StreamClient> {
    const socket = new WebSocket(url, options)
    const refused = new Promise<never>((_resolve, reject) => {
      socket.once('unexpected-response', (_request, response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          reject(new HandshakeRefusedError(response.statusCode ?? 0, Buffer.concat(chunks).toString())),
        )
      })
    })
    const client = new StreamClient(socket)
    await Promise.race([once(socket, 'open'), refused])
    return client
  }

  /** Sends text unchanged, bytes as a binary frame, and anything else as JSON. */
  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame))
  }

  /** Sends a frame and resolves to the response: the next frame that is not an event. @throws Error when the stream ends. */
  async ask(frame: unknown): Promise<Frame> {
    const before = this.frames.length
    this.send(frame)
    const answer = await waitFor(() => this.frames.slice(before).find(({ type }) => type !== 'event') ?? this.closed, {
      what: 'an answer on the stream',
    })
    if (answer === this.closed) throw new Error(`the stream was closed: ${this.closed.code} ${this.closed.reason}`)
    return answer
  }

  /** The received events, oldest first. */
  get events(): Frame[] {
    return this.frames.filter((frame) => frame['type'] === 'event')
  }

  /** Resolves to the first event that matches, past or future. */
  next(matches: (event: Frame) => boolean, options: WaitOptions): Promise<Frame> {
    return waitFor(() => this.events.find(matches), options)
  }

  /** Resolves when the connection is closed by either side. */
  ended(options: WaitOptions = { what: 'the stream to close' }): Promise<{ readonly code: number }> {
    return waitFor(() => this.closed, options)
  }

  async close(): Promise<void> {
    if (!this.closed) this.#socket.close()
    await this.ended()
  }
}

/** The server answered the handshake with an ordinary HTTP response. */
export class HandshakeRefusedError extends Error {
  override readonly name = 'HandshakeRefusedError'
  readonly status: number
  readonly body: string

  constructor(status: number, body: string) {
    super(`the handshake was refused with ${status}: ${body}`)
    this.status = status
    this.body = body
  }
}

function parse(text: string): Frame {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new Error(`not a frame: ${text}`)
  return { ...value }
}
