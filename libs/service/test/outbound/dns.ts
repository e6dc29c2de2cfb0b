import { createSocket } from 'node:dgram'
import { once } from 'node:events'

const TYPE_A = 1

/** A fake name server at its wire: it answers A questions from a list, each time with the next entry. */
export class NameServer {
  /** Name to the addresses of the first answer, the second, and so on; the last one is repeated. */
  readonly zone = new Map<string, string[][]>()
  readonly questions: string[] = []
  /** Response codes other than success (RFC 1035 4.1.1) by name, or no answer at all. */
  readonly failing = new Map<string, number | 'silence'>()
  readonly #socket = createSocket('udp4')

  /** @returns `address:port`. */
  async listen(): Promise<string> {
    this.#socket.on('message', (query, peer) => {
      const answer = this.#answer(query)
      if (answer) this.#socket.send(answer, peer.port, peer.address)
    })
    this.#socket.bind(0, '127.0.0.1')
    await once(this.#socket, 'listening')
    return `127.0.0.1:${this.#socket.address().port}`
  }

  close(): void {
    this.#socket.close()
  }

  /** RFC 1035 4.1: the question is returned, with an answer section that points at its name. */
  #answer(query: Buffer): Buffer | undefined {
    const labels: string[] = []
    let at = 12
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('ascii', at + 1, at + 1 + length))
      at += 1 + length
    }
    const name = labels.join('.').toLowerCase()
    const type = query.readUInt16BE(at + 1)
    const answers = this.zone.get(name)
    const addresses = type === TYPE_A ? ((answers && answers.length > 1 ? answers.shift() : answers?.[0]) ?? []) : []
    if (type === TYPE_A) this.questions.push(name)
    const failure = this.failing.get(name)
    if (failure === 'silence') return undefined
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(failure === undefined ? (answers ? 0x8180 : 0x8183) : 0x8180 | failure, 2)
    header.writeUInt16BE(addresses.length, 6)
    header.fill(0, 8, 12)
    const records = addresses.map((address) =>
      Buffer.from([0xc0, 0x0c, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
    )
    return Buffer.concat([header, query.subarray(12, at + 5), ...records])
  }
}
