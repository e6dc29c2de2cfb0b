import { connect } from 'node:net'
import { isLoopback } from '@restante/service/connections'
import dns2 from 'dns2'

const { Packet } = dns2

/** Types of records, by number where the library has no name (RFC 6698 7.1). */
const TYPES = { A: 1, MX: 15, AAAA: 28, TLSA: 52 } as const
const { NOERROR, NXDOMAIN } = Packet.RCODE

/** An answer of the resolver. */
export interface SecureAnswer {
  /** Whether the resolver has validated it, also where there are no such records (AD, RFC 4035 3.2.3). */
  readonly secure: boolean
  /** The data of the records of the type. */
  readonly records: readonly Buffer[]
}

/**
 * Asks a resolver that is trusted to validate. `node:dns` does not tell whether an answer was validated. TCP, because
 * answers may be long, and no stranger can slip one in.
 */
export class SecureDns {
  readonly #servers: readonly string[]
  readonly #timeoutMs: number

  /** @param servers `address` or `address:port`, in their order. */
  constructor(servers: readonly string[], timeoutMs = 5_000) {
    this.#servers = servers
    this.#timeoutMs = timeoutMs
  }

  /** @throws Error when no server answers, or none can tell (SERVFAIL). */
  async ask(name: string, type: keyof typeof TYPES): Promise<SecureAnswer> {
    let failure: unknown = new Error('There is no DNS server')
    for (const server of this.#servers) {
      try {
        return await this.#askOne(server, name, TYPES[type])
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  async #askOne(server: string, name: string, type: number): Promise<SecureAnswer> {
    const query = new Packet()
    query.header.id = Packet.uuid()
    query.header.rd = 1
    // Asks for the bit in the answer (RFC 6840 5.7). The types of the library do not have it.
    Object.assign(query.header, { ad: 1 })
    query.questions.push(new Packet.Question(name, type, Packet.CLASS.IN))
    const { header, answers } = Packet.parse(await this.#exchange(server, query.toBuffer()))
    if (header.id !== query.header.id) throw new Error('The answer is to another question')
    if (header.rcode !== NOERROR && header.rcode !== NXDOMAIN) throw new Error(`DNS error ${header.rcode} for ${name}`)
    const records = answers.filter((answer) => answer.type === type)
    return {
      secure: Reflect.get(header, 'ad') === 1,
      records: records.flatMap(({ data }) => (Buffer.isBuffer(data) ? [data] : [])),
    }
  }

  async #exchange(server: string, query: Buffer): Promise<Buffer> {
    const { host, port } = placeOf(server)
    const socket = connect({ host, port, timeout: this.#timeoutMs })
    const late = setTimeout(
      () => socket.destroy(new Error(`The DNS server ${server} does not answer`)),
      this.#timeoutMs,
    )
    socket.on('error', () => {})
    try {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(query.length)
      socket.write(Buffer.concat([length, query]))
      return await Packet.readStream(socket)
    } finally {
      clearTimeout(late)
      socket.destroy()
    }
  }
}

/** Whether a DNS server is on this machine, so that nobody can change its answers on the way. */
export function isOnThisMachine(server: string): boolean {
  return isLoopback(placeOf(server).host)
}

/** `1.2.3.4`, `1.2.3.4:53`, `::1` or `[::1]:53`. */
function placeOf(server: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(server) ?? []
  return { host: bracketed ?? plain ?? server, port: Number(port ?? 53) }
}
