import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'

/** What the fake does with a stream: answers it, is silent, or ends the connection. */
export type Conduct = { readonly answer: string } | 'silence' | 'end'

const COMMAND = 'zINSTREAM\0'

/** A fake clamd: takes streams as clamd(8) describes, and does with each what a test decides. */
export class FakeClamd {
  /** The streams that it got, oldest first. */
  readonly streams: Buffer[] = []
  /** Largest chunk that it takes. */
  streamMaxLength = 1024 * 1024
  /** Times that its answer about a chunk that is too large gets lost, because more of it was on its way. */
  lostAnswers = 0
  conduct: (stream: Buffer) => Conduct = () => ({ answer: 'stream: OK' })
  #server: Server | undefined
  #port = 0

  get url(): string {
    return `tcp://127.0.0.1:${this.#port}`
  }

  /** Listens, after a stop on the same port again. */
  async start(): Promise<this> {
    this.#server = createServer((socket) => {
      this.#take(socket)
        .catch(() => {})
        .finally(() => socket.destroy())
    })
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    if (typeof address === 'object' && address !== null) this.#port = address.port
    return this
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    await new Promise((resolve) => server?.close(resolve))
  }

  async #take(socket: Socket): Promise<void> {
    const bytes = new Bytes(socket)
    if ((await bytes.read(COMMAND.length)).toString() !== COMMAND) throw new Error('another command than INSTREAM')
    const chunks: Buffer[] = []
    for (;;) {
      const length = (await bytes.read(4)).readUInt32BE()
      if (length === 0) break
      if (length > this.streamMaxLength) {
        if (this.lostAnswers-- > 0) return void socket.resetAndDestroy()
        return end(socket, 'INSTREAM size limit exceeded. ERROR')
      }
      chunks.push(await bytes.read(length))
    }
    const stream = Buffer.concat(chunks)
    this.streams.push(stream)
    const conduct = this.conduct(stream)
    if (conduct === 'end') return
    if (conduct === 'silence') await once(socket, 'close')
    else await end(socket, conduct.answer)
  }
}

async function end(socket: Socket, answer: string): Promise<void> {
  socket.end(`${answer}\0`)
  await once(socket, 'finish')
}

/** The bytes of a connection, read in given lengths. */
class Bytes {
  readonly #parts: AsyncIterator<Buffer>
  #held: Buffer = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.#parts = socket.iterator({ destroyOnReturn: false })
  }

  async read(length: number): Promise<Buffer> {
    while (this.#held.length < length) {
      const { done, value } = await this.#parts.next()
      if (done) throw new Error('the connection ended')
      this.#held = Buffer.concat([this.#held, value])
    }
    const bytes = this.#held.subarray(0, length)
    this.#held = this.#held.subarray(length)
    return bytes
  }
}
