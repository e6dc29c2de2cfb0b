import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './free-port.ts'

/** For tests: a TCP proxy to an engine, which can be cut, restored, and frozen without being cut. */
export class Wire {
  readonly #host: string
  readonly #farPort: number
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #held = false
  #port = 0

  private constructor(host: string, port: number) {
    this.#host = host
    this.#farPort = port
  }

  /** Opens a wire to the address of a URL such as `postgres://127.0.0.1:54329/name`. */
  static async to(url: string): Promise<Wire> {
    const { hostname, port } = new URL(url)
    const wire = new Wire(hostname, Number(port))
    await wire.restore()
    return wire
  }

  /** The URL with this end of the wire in place of the target. */
  through(url: string): string {
    const near = new URL(url)
    near.host = `127.0.0.1:${this.#port}`
    return near.href
  }

  /** From now on connections break, and new ones are refused. */
  cut(): void {
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  /** From now on connections stay open and can be opened, but no data passes: as if the other side were frozen. */
  hold(): void {
    this.#held = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** Ends `cut` and `hold`; held data is delivered. */
  async restore(): Promise<void> {
    this.#held = false
    for (const socket of this.#sockets) socket.resume()
    if (this.#server?.listening) return
    this.#port ||= await freePort()
    this.#server = createServer({ pauseOnConnect: true }, (near) => this.#join(near))
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  #join(near: Socket): void {
    const far = connect(this.#farPort, this.#host)
    const ends: [Socket, Socket][] = [
      [near, far],
      [far, near],
    ]
    for (const [from, to] of ends) {
      this.#sockets.add(from)
      from.on('data', (bytes) => to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
      if (this.#held) from.pause()
      else from.resume()
    }
  }
}
