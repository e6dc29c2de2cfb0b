import { freePort } from '@restante/service/testing'
import dns2 from 'dns2'

const { Packet } = dns2

/** The record types of a zone, with the names of zone files. */
export type ZoneRecord =
  | { readonly type: 'A'; readonly address: string }
  | { readonly type: 'AAAA'; readonly address: string }
  | { readonly type: 'MX'; readonly exchange: string; readonly priority: number }
  /** One string, divided where it is too long for one of a record, or the strings themselves. */
  | { readonly type: 'TXT'; readonly data: string | readonly string[] }
  | { readonly type: 'CNAME'; readonly domain: string }
  | { readonly type: 'PTR'; readonly domain: string }
  /** Marks the apex of a zone. */
  | { readonly type: 'SOA'; readonly primary: string; readonly admin: string }
  /** RFC 6698 2.1. */
  | {
      readonly type: 'TLSA'
      readonly usage: number
      readonly selector: number
      readonly mtype: number
      readonly data: Buffer
    }

/** Records of a name that follow from the name itself; `undefined`: no such name. */
export type ZoneRule = (name: string) => readonly ZoneRecord[] | undefined

type Request = InstanceType<typeof Packet>
type Question = Request['questions'][number]
type Resource = Request['answers'][number]

const MOST_ALIASES = 8

/**
 * A name server on loopback (UDP and TCP) whose records a test sets. Unknown names are NXDOMAIN, known ones without the
 * queried type get an empty answer; a name set to fail is SERVFAIL, a silent one is never answered. Of an alias the
 * records that it stands for are added, as a resolver does.
 */
export class DnsZone {
  /** The received queries, oldest first. */
  readonly questions: { name: string; type: string }[] = []
  readonly #records = new Map<string, ZoneRecord[]>()
  readonly #failing = new Set<string>()
  readonly #silent = new Set<string>()
  readonly #secure = new Set<string>()
  readonly #rules: ZoneRule[] = []
  readonly #server = dns2.createServer({
    udp: true,
    tcp: true,
    handle: (request, send) => this.#handle(request, send),
  })
  #port = 0

  /** `127.0.0.1:port`, the form of `DNS_SERVERS`. */
  get address(): string {
    return `127.0.0.1:${this.#port}`
  }

  async start(port?: number): Promise<this> {
    this.#port = port ?? (await freePort())
    const place = { port: this.#port, address: '127.0.0.1' }
    await this.#server.listen({ udp: place, tcp: place })
    return this
  }

  async stop(): Promise<void> {
    await this.#server.close()
  }

  /** Replaces the records of a name. */
  set(name: string, ...records: ZoneRecord[]): this {
    this.#records.set(name.toLowerCase(), records)
    this.#failing.delete(name.toLowerCase())
    this.#silent.delete(name.toLowerCase())
    return this
  }

  /** Adds a rule for names without records of their own. The first rule that knows a name answers. */
  rule(rule: ZoneRule): this {
    this.#rules.push(rule)
    return this
  }

  /** Answers every query for the name with SERVFAIL. */
  fail(name: string): this {
    this.#failing.add(name.toLowerCase())
    return this
  }

  /** Answers no query for the name. */
  silence(name: string): this {
    this.#silent.add(name.toLowerCase())
    return this
  }

  /** Marks the answers about names as validated (AD), as a resolver does for signed zones. */
  secure(...names: string[]): this {
    for (const name of names) this.#secure.add(name.toLowerCase())
    return this
  }

  insecure(name: string): this {
    this.#secure.delete(name.toLowerCase())
    return this
  }

  remove(name: string): this {
    this.#records.delete(name.toLowerCase())
    return this
  }

  #handle(request: Request, send: (response: Request) => void): void {
    const [question] = request.questions
    if (!question) return
    const name = question.name.toLowerCase()
    this.questions.push({ name, type: Packet.typeName(question.type) })
    if (this.#silent.has(name)) return
    const response = Packet.createResponseFromRequest(request)
    response.header.aa = 1
    // The types of the library do not have this bit.
    Object.assign(response.header, { ad: this.#secure.has(name) ? 1 : 0 })
    const records = this.#recordsOf(name)
    if (this.#failing.has(name)) response.header.rcode = Packet.RCODE.SERVFAIL
    else if (!records) response.header.rcode = Packet.RCODE.NXDOMAIN
    else response.answers.push(...this.#answers(question, records))
    send(response)
  }

  #recordsOf(name: string): readonly ZoneRecord[] | undefined {
    return this.#records.get(name) ?? this.#byRule(name)
  }

  #answers(question: Question, records: readonly ZoneRecord[], name = question.name, aliases = 0): Resource[] {
    return records.flatMap((record) => {
      if (!answers(record, question)) return []
      const own = resource(question, name, record)
      const isAlias = record.type === 'CNAME' && question.type !== Packet.TYPE.CNAME && aliases < MOST_ALIASES
      if (!isAlias) return [own]
      const behind = this.#recordsOf(record.domain.toLowerCase()) ?? []
      return [own, ...this.#answers(question, behind, record.domain, aliases + 1)]
    })
  }

  #byRule(name: string): readonly ZoneRecord[] | undefined {
    for (const rule of this.#rules) {
      const records = rule(name)
      if (records) return records
    }
    return undefined
  }
}

/** A CNAME answers every query for its name (RFC 1034 3.6.2). */
function answers(record: ZoneRecord, question: Question): boolean {
  return record.type === 'CNAME' || typeOf(record) === question.type
}

function resource(question: Question, name: string, record: ZoneRecord): Resource {
  const { type: _, ...data } = record.type === 'TXT' ? { ...record, data: stringsOf(record.data) } : rawOf(record)
  return Packet.createResourceFromQuestion(question, { type: typeOf(record), ttl: 1, ...data, name })
}

/** The library has no name for TLSA, and sends the data of such records as they are. */
function typeOf({ type }: ZoneRecord) {
  return type === 'TLSA' ? 52 : Packet.TYPE[type]
}

function rawOf(record: Exclude<ZoneRecord, { readonly type: 'TXT' }>) {
  if (record.type === 'SOA')
    return { ...record, serial: 1, refresh: 3_600, retry: 600, expiration: 86_400, minimum: 60 }
  if (record.type !== 'TLSA') return record
  const { type, usage, selector, mtype, data } = record
  return { type, data: Buffer.concat([Buffer.from([usage, selector, mtype]), data]) }
}

/** The strings of a TXT record, each of which may have 255 bytes (RFC 1035 3.3). */
function stringsOf(data: string | readonly string[]): string[] {
  return typeof data === 'string' ? (data.match(/[\s\S]{1,255}/g) ?? ['']) : [...data]
}
