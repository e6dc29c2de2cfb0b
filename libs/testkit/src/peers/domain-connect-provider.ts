import { createPublicKey, verify } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { PATIENCE_MS } from '@restante/service/testing'
import { generate } from 'selfsigned'
import type { DnsZone, ZoneRecord } from './dns/dns-zone.ts'

/** A template as a service publishes it for providers. */
export interface ConnectTemplate {
  readonly providerId: string
  readonly serviceId: string
  readonly syncPubKeyDomain: string
  readonly syncRedirectDomain: string
  readonly records: readonly ConnectRecord[]
}

interface ConnectRecord {
  readonly groupId: string
  readonly type: 'TXT' | 'MX' | 'SPFM' | 'CNAME'
  readonly host: string
  readonly data?: string
  readonly pointsTo?: string
  readonly priority?: number
  readonly spfRules?: string
  readonly txtConflictMatchingPrefix?: string
}

type Conduct = (request: IncomingMessage, response: ServerResponse) => void
type Parameters = Readonly<Record<string, string>>

const APPLY = /^\/v2\/domainTemplates\/providers\/([^/]+)\/services\/([^/]+)\/apply$/
const TEMPLATE = /^\/v2\/domainTemplates\/providers\/([^/]+)\/services\/([^/]+)$/
const SETTINGS = /^\/v2\/([^/]+)\/settings$/

/**
 * A DNS provider with one-click setup (Domain Connect), on https with a certificate of its own. It keeps zones, which a
 * `DnsZone` serves, and applies templates to them as providers do: only with a signature that the published key verifies.
 */
export class DomainConnectProvider {
  readonly host: string
  readonly templates: ConnectTemplate[] = []
  /** Replaces members of the settings; undefined leaves one out. */
  readonly settings: Record<string, unknown> = {}
  /** Paths that were requested, with queries. */
  readonly requests: string[] = []
  /** Answers instead of the provider, where it is set. */
  conduct: Conduct | undefined
  /** What an owner answers to the question whether the change is wanted. */
  consent: 'given' | 'cancelled' = 'given'
  readonly #zones = new Map<string, Map<string, ZoneRecord[]>>()
  readonly #resolver = new Resolver({ timeout: PATIENCE_MS, tries: 1 })
  #dns: DnsZone | undefined
  #server: Server | undefined
  #certificate = ''

  constructor(host: string) {
    this.host = host
  }

  /** PEM; clients that trust it as an authority accept the provider. */
  get certificate(): string {
    return this.#certificate
  }

  get port(): number {
    const address: AddressInfo | string | null | undefined = this.#server?.address()
    if (typeof address !== 'object' || address === null) throw new Error('not listening on a port')
    return address.port
  }

  get url(): string {
    return `https://${this.host}:${this.port}`
  }

  async start(): Promise<this> {
    const made = await generate([{ name: 'commonName', value: this.host }], { keyType: 'ec', curve: 'P-256' })
    this.#certificate = made.cert
    this.#server = createServer({ cert: made.cert, key: made.private }, (request, response) => {
      this.requests.push(request.url ?? '')
      const conduct = this.conduct ?? ((one, other) => void this.#answer(one, other))
      conduct(request, response)
    })
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise((resolve) => (this.#server ? this.#server.close(resolve) : resolve(undefined)))
  }

  /** Takes up a zone, which names this provider and has some records already. */
  serve(dns: DnsZone, apex: string, records: Readonly<Record<string, readonly ZoneRecord[]>> = {}): void {
    this.#dns = dns
    this.#resolver.setServers([dns.address])
    dns.set(this.host, { type: 'A', address: '127.0.0.1' })
    const zone = new Map(Object.entries(records).map(([name, set]) => [name, [...set]]))
    const apexRecords = zone.get(apex) ?? []
    zone.set(apex, [{ type: 'SOA', primary: `ns.${this.host}`, admin: `hostmaster.${this.host}` }, ...apexRecords])
    zone.set(`_domainconnect.${apex}`, [{ type: 'TXT', data: this.host }])
    this.#zones.set(apex, zone)
    for (const [name, set] of zone) dns.set(name, ...set)
  }

  /** The records of a name in a zone. */
  records(apex: string, name: string): readonly ZoneRecord[] {
    return this.#zones.get(apex)?.get(name) ?? []
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '', this.url)
    const apply = APPLY.exec(pathname)
    if (apply) return this.#apply(apply, search.slice(1), response)
    const settings = SETTINGS.exec(pathname)
    if (settings) return this.#sendSettings(decodeURIComponent(settings[1] ?? ''), response)
    const template = TEMPLATE.exec(pathname)
    if (template && this.#templateOf(template)) return void response.writeHead(200).end()
    response.writeHead(404).end()
  }

  #sendSettings(apex: string, response: ServerResponse): void {
    if (!this.#zones.has(apex)) return void response.writeHead(404).end()
    const document = {
      providerId: 'provider.test',
      providerName: 'Provider of the tests',
      urlSyncUX: this.url,
      urlAPI: this.url,
      ...this.settings,
    }
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(document))
  }

  #templateOf([, providerId, serviceId]: RegExpExecArray): ConnectTemplate | undefined {
    return this.templates.find((one) => one.providerId === providerId && one.serviceId === serviceId)
  }

  async #apply(match: RegExpExecArray, query: string, response: ServerResponse): Promise<void> {
    const template = this.#templateOf(match)
    const given: Parameters = Object.fromEntries(new URLSearchParams(query))
    if (!template || !(await this.#isSigned(template, query, given))) return void response.writeHead(400).end()
    const zone = this.#zones.get(given['domain'] ?? '')
    const target = new URL(given['redirect_uri'] ?? '')
    target.searchParams.set('state', given['state'] ?? '')
    if (!zone) target.searchParams.set('error', 'server_error')
    else if (this.consent === 'given') this.#change(zone, template, given)
    else {
      target.searchParams.set('error', 'access_denied')
      target.searchParams.set('error_description', 'user_cancel: the change was not confirmed')
    }
    response.writeHead(302, { location: target.href }).end()
  }

  /** Whether the query, without its last two parameters, was signed with the key that the service publishes. */
  async #isSigned({ syncPubKeyDomain }: ConnectTemplate, query: string, given: Parameters): Promise<boolean> {
    const signed = query.split('&').filter((pair) => !/^(sig|key)=/.test(pair))
    const texts = await this.#resolver.resolveTxt(`${given['key']}.${syncPubKeyDomain}`).catch(() => [])
    const chunks = texts
      .map((strings) =>
        Object.fromEntries(
          strings
            .join('')
            .split(',')
            .map((pair) => pair.split(/=(.*)/s)),
        ),
      )
      .sort((one, other) => Number(one['p']) - Number(other['p']))
    if (chunks.length === 0 || chunks.some(({ a }) => a !== 'RS256')) return false
    const der = Buffer.from(chunks.map(({ d }) => d).join(''), 'base64')
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    return verify('sha256', Buffer.from(signed.join('&')), key, Buffer.from(given['sig'] ?? '', 'base64'))
  }

  #change(zone: Map<string, ZoneRecord[]>, template: ConnectTemplate, given: Parameters): void {
    const groups = (given['groupId'] ?? '').split(',')
    const fqdn = [given['host'], given['domain']].filter(Boolean).join('.')
    const filled = (text = '') => text.replace(/%(\w+)%/g, (_, name) => (name === 'fqdn' ? fqdn : (given[name] ?? '')))
    for (const record of template.records.filter(({ groupId }) => groups.includes(groupId))) {
      const name = record.host === '@' ? fqdn : `${filled(record.host)}.${fqdn}`
      const set = changed(zone.get(name) ?? [], record, filled)
      zone.set(name, set)
      this.#dns?.set(name, ...set)
    }
  }
}

/** The records of a name after one of a template was applied. */
function changed(
  before: readonly ZoneRecord[],
  record: ConnectRecord,
  filled: (text?: string) => string,
): ZoneRecord[] {
  switch (record.type) {
    case 'MX':
      return [
        ...before.filter(({ type }) => type !== 'MX'),
        { type: 'MX', exchange: filled(record.pointsTo), priority: record.priority ?? 0 },
      ]
    case 'CNAME':
      return [{ type: 'CNAME', domain: filled(record.pointsTo) }]
    case 'TXT': {
      const { txtConflictMatchingPrefix: prefix } = record
      const conflicts = (text: string) => prefix !== undefined && text.startsWith(prefix)
      return [...before.filter((one) => !conflicts(textOf(one))), { type: 'TXT', data: filled(record.data) }]
    }
    case 'SPFM': {
      const isPolicy = (one: ZoneRecord) => textOf(one).startsWith('v=spf1')
      const terms = before.filter(isPolicy).flatMap((one) => textOf(one).split(' ').slice(1))
      const merged = new Set([...terms.filter((term) => !term.endsWith('all')), filled(record.spfRules)])
      const policy = { type: 'TXT' as const, data: ['v=spf1', ...merged, '~all'].join(' ') }
      return [...before.filter((one) => !isPolicy(one)), policy]
    }
  }
}

function textOf(record: ZoneRecord): string {
  if (record.type !== 'TXT') return ''
  return typeof record.data === 'string' ? record.data : record.data.join('')
}
