import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A port that passes connections on to another one while it is open, and breaks them while it is closed: what an operator
 * keeps traffic from outside away with. A connection keeps the local address of its client.
 */
export class Door {
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((outside) => this.#pass(outside))
  readonly #port: number
  #isOpen = true

  private constructor(port: number) {
    this.#port = port
  }

  /** @param port of this machine, where connections go. */
  static async to(port: number): Promise<Door> {
    const door = new Door(port)
    door.#server.listen(0, '127.0.0.1')
    await once(door.#server, 'listening')
    return door
  }

  /** Where clients connect. */
  get port(): number {
    const { port } = this.#server.address() as AddressInfo
    return port
  }

  open(): void {
    this.#isOpen = true
  }

  close(): void {
    this.#isOpen = false
    for (const socket of this.#sockets) socket.destroy()
  }

  async stop(): Promise<void> {
    this.close()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #pass(outside: Socket): void {
    const localAddress = outside.remoteAddress
    if (!this.#isOpen || localAddress === undefined) {
      outside.destroy()
      return
    }
    const inside = connect({ host: '127.0.0.1', port: this.#port, localAddress })
    for (const [one, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      this.#sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
    }
  }
}
