import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ReturnPath } from '@restante/mime'
import { Database } from '@restante/service/database'
import { GuardedFetch } from '@restante/service/outbound'
import { createLogger } from '@restante/service/telemetry'
import { createDatabase, DnsZone, MailPeer, PATIENCE_MS, PolicyHost, queryRows } from '@restante/testkit'
import type { OutboundContent } from '../../../src/delivery/outbound/outbound-content.ts'
import type { OpenDelivery } from '../../../src/delivery/outcome/delivery.ts'
import type { Outcome } from '../../../src/delivery/outcome/outcome.ts'
import { MtaSts } from '../../../src/delivery/routes/mta-sts/mta-sts.ts'
import { lists } from '../../../src/delivery/routes/mta-sts/policy.ts'
import { MxHosts } from '../../../src/delivery/routes/mx-hosts.ts'
import { MxSessions } from '../../../src/delivery/routes/mx-sessions.ts'
import { OutsideRoute } from '../../../src/delivery/routes/outside-route.ts'
import { contentIn } from '../../support/content.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const sendId = randomUUID()
const zone = new DnsZone()
let directory: string
let database: Awaited<ReturnType<typeof createDatabase>>
let db: Database
let content: OutboundContent

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'mta-sts-'))
  database = await createDatabase(path.join(import.meta.dirname, '../../..'))
  db = new Database({ url: database.url, applicationName: 'test' })
  await zone.start()
  content = await contentIn(directory, sendId)
})
afterAll(async () => {
  await Promise.all([zone.stop(), db.stop()])
  await Promise.all([database.drop(), rm(directory, { recursive: true })])
})

/** A domain with a policy host and an MX host, `mx.<domain>`. */
class Place {
  readonly domain = `p-${randomUUID().slice(0, 8)}.example`
  readonly host = new PolicyHost(this.domain)
  readonly server: MailPeer
  trusted = ''
  #fetchers: GuardedFetch[] = []

  constructor(options: { readonly tls?: boolean; readonly name?: string } = {}) {
    this.server = new MailPeer({ name: `mx.${this.domain}`, ...options })
  }

  async start(policy?: string, id = '1'): Promise<this> {
    await Promise.all([this.host.start(), this.server.start()])
    zone
      .set(this.domain, { type: 'MX', exchange: `mx.${this.domain}`, priority: 1 })
      .set(`mx.${this.domain}`, { type: 'A', address: '127.0.0.1' })
      .set(`mta-sts.${this.domain}`, { type: 'A', address: '127.0.0.1' })
    if (policy !== undefined) this.publish(policy, id)
    this.trusted = this.server.certificate
    return this
  }

  publish(policy: string, id: string): void {
    this.host.policy = policy
    zone.set(`_mta-sts.${this.domain}`, { type: 'TXT', data: `v=STSv1; id=${id};` })
  }

  /** What a process that has just started knows of policies. */
  policies(): MtaSts {
    const dnsServers = [zone.address]
    const fetcher = new GuardedFetch({
      version: '0',
      allow: { loopback: true },
      ca: this.host.certificate,
      dnsServers,
    })
    this.#fetchers.push(fetcher)
    return new MtaSts({ db, fetcher, dnsServers, log, port: this.host.port })
  }

  /** One attempt at one recipient. */
  async attempt(mtaSts: MtaSts | 'off' = this.policies()): Promise<Outcome> {
    const mxHosts = new MxHosts({
      port: this.server.port,
      dnsServers: [zone.address],
      connectMs: PATIENCE_MS,
      allowLocal: true,
    })
    const ehloName = 'mail.restante.test'
    const timeouts = { connectMs: PATIENCE_MS, answerMs: PATIENCE_MS }
    const sts = mtaSts === 'off' ? undefined : mtaSts
    const route = new OutsideRoute({
      content,
      returnPath: new ReturnPath({ domain: 'bounces.restante.test', secret: 'secret' }),
      mxSessions: new MxSessions({ mxHosts, mtaSts: sts, ehloName, timeouts, ca: this.trusted }),
      smarthost: undefined,
      senderRoutes: new Map(),
      ehloName,
      timeouts,
    })
    const outcomes: Outcome[] = []
    const send = {
      id: sendId,
      origin: { kind: 'system' as const },
      messageId: '<1@restante.test>',
      size: 27,
      sha256: '',
      acceptedAt: new Date(),
      unsubscribable: false,
      returnPath: undefined,
    }
    const delivery = { id: randomUUID(), recipient: `ann@${this.domain}`, attempts: 0, delayed: false, inside: false }
    const steps = {
      begin: async (deliveries: readonly OpenDelivery[]) => deliveries.map((one) => ({ ...one, attempts: 1 })),
      beginSending: async (delivery: OpenDelivery) => ({ ...delivery, attempts: 1 }),
      report: (_delivery: unknown, outcome: Outcome) => void outcomes.push(outcome),
    }
    const mail = { send, destination: this.domain, deliveries: [{ ...delivery, state: 'queued' as const }] }
    await route.attempt(mail, steps, new AbortController().signal)
    await route.stop()
    const [outcome] = outcomes
    if (!outcome) throw new Error('nothing was decided')
    return outcome
  }

  async stop(): Promise<void> {
    await Promise.all([this.host.stop(), this.server.stop(), ...this.#fetchers.map((fetcher) => fetcher.stop())])
  }
}

const policy = (mode: string, ...hosts: string[]) =>
  ['version: STSv1', `mode: ${mode}`, ...hosts.map((host) => `mx: ${host}`), 'max_age: 86400', ''].join('\r\n')

async function at<T>(place: Place, work: (place: Place) => Promise<T>): Promise<T> {
  try {
    return await work(place)
  } finally {
    await place.stop()
  }
}

describe('a policy in mode enforce', () => {
  it('lets mail go to a listed host with a valid certificate, encrypted', () =>
    at(new Place(), async (place) => {
      await place.start(policy('enforce', `*.${place.domain}`))
      expect(await place.attempt()).toMatchObject({ kind: 'delivered' })
      expect(place.server.mails).toMatchObject([{ secure: true }])
    }))

  it('keeps mail from a host that is not listed', () =>
    at(new Place(), async (place) => {
      await place.start(policy('enforce', 'mx.elsewhere.example'))
      expect(await place.attempt()).toMatchObject({
        kind: 'deferred',
        verdict: { status: '4.7.5', text: expect.stringContaining(`does not list its MX host mx.${place.domain}`) },
      })
      expect(place.server.attempts).toEqual([])
    }))

  it('keeps mail from a host that is not listed, also after a listed one has deferred it', () =>
    at(new Place(), async (place) => {
      await place.start(policy('enforce', `mx.${place.domain}`))
      const backup = `backup.${place.domain}`
      const unlisted = await new MailPeer({ name: backup, host: '127.0.0.2', port: place.server.port }).start()
      zone
        .set(backup, { type: 'A', address: unlisted.host })
        .set(
          place.domain,
          { type: 'MX', exchange: `mx.${place.domain}`, priority: 1 },
          { type: 'MX', exchange: backup, priority: 2 },
        )
      place.server.answerRecipient(`ann@${place.domain}`, '452 4.3.1 no space')
      const outcome = await place.attempt()
      await unlisted.stop()
      expect(outcome).toMatchObject({ kind: 'deferred', verdict: { status: '4.3.1', mta: `mx.${place.domain}` } })
      expect(unlisted.attempts).toEqual([])
    }))

  it.each([
    ['without STARTTLS', { tls: false }, true],
    ['with the certificate of another name', { name: 'other.example' }, true],
    ['with a certificate of no known authority', {}, false],
  ])('keeps mail from a server %s', (_what, options, known) =>
    at(new Place(options), async (place) => {
      await place.start(policy('enforce', `mx.${place.domain}`))
      if (!known) place.trusted = place.host.certificate
      expect(await place.attempt()).toMatchObject({
        kind: 'deferred',
        verdict: { status: '4.7.5', text: expect.stringContaining(`MTA-STS policy of ${place.domain}`) },
      })
      expect(place.server.attempts).toEqual([])
    }),
  )

  it('holds for a process that starts while neither record nor policy can be had', () =>
    at(new Place({ tls: false }), async (place) => {
      await place.start(policy('enforce', `mx.${place.domain}`))
      expect(await place.attempt()).toMatchObject({ kind: 'deferred' })
      place.host.policy = undefined
      zone.fail(`_mta-sts.${place.domain}`)
      expect(await place.attempt()).toMatchObject({ kind: 'deferred', verdict: { status: '4.7.5' } })
      zone.set(`_mta-sts.${place.domain}`, { type: 'TXT', data: 'v=STSv1; id=2;' })
      expect(await place.attempt()).toMatchObject({ kind: 'deferred', verdict: { status: '4.7.5' } })
      await queryRows(
        db,
        `update mta_sts_policies set expires_at = now() where domain = $1 returning domain`,
        place.domain,
      )
      expect(await place.attempt()).toMatchObject({ kind: 'delivered' })
    }))
})

describe('a domain without an enforced policy', () => {
  it.each([
    ['in mode testing', policy('testing', 'mx.elsewhere.example'), 'text/plain'],
    ['in mode none', policy('none'), 'text/plain'],
    ['that is no policy', 'mode: enforce\r\n', 'text/plain'],
    ['that is a web page', policy('enforce', 'mx.elsewhere.example'), 'text/html'],
    ['that is not there', undefined, 'text/plain'],
  ])('gets its mail as ever: a policy %s', (_what, text, contentType) =>
    at(new Place({ tls: false }), async (place) => {
      await place.start(text ?? '')
      place.host.policy = text
      place.host.contentType = contentType
      expect(await place.attempt()).toMatchObject({ kind: 'delivered' })
    }),
  )

  it('is asked for no policy where it publishes no record, or where MTA-STS is off', () =>
    at(new Place({ tls: false }), async (place) => {
      await place.start()
      expect(await place.attempt()).toMatchObject({ kind: 'delivered' })
      place.publish(policy('enforce', 'mx.elsewhere.example'), '1')
      expect(await place.attempt('off')).toMatchObject({ kind: 'delivered' })
      expect(place.host.requests).toBe(0)
    }))
})

describe('the policy of a domain', () => {
  it('is fetched once, and again when its record has another id', () =>
    at(new Place(), async (place) => {
      await place.start(policy('enforce', `mx.${place.domain}`))
      const policies = place.policies()
      expect(await policies.policyFor(place.domain)).toMatchObject({ id: '1', mode: 'enforce' })
      await policies.policyFor(place.domain)
      await place.policies().policyFor(place.domain)
      expect(place.host.requests).toBe(1)
      place.publish(policy('none'), '2')
      expect(await place.policies().policyFor(place.domain)).toMatchObject({ id: '2', mode: 'none', hosts: [] })
      expect(place.host.requests).toBe(2)
    }))

  it('is not taken from a host whose certificate is not valid', () =>
    at(new Place(), async (place) => {
      await place.start(policy('enforce', `mx.${place.domain}`))
      const dnsServers = [zone.address]
      const fetcher = new GuardedFetch({ version: '0', allow: { loopback: true }, dnsServers })
      const policies = new MtaSts({ db, fetcher, dnsServers, log, port: place.host.port })
      expect(await policies.policyFor(place.domain)).toBeUndefined()
      await fetcher.stop()
    }))

  it.each([
    ['mx.a.example', 'mx.a.example', true],
    ['MX.A.example', 'mx.a.example', true],
    ['mx1.a.example', '*.a.example', true],
    ['a.example', '*.a.example', false],
    ['x.mx.a.example', '*.a.example', false],
    ['mx.a.example.evil.example', 'mx.a.example', false],
  ])('lists the host %s by %s: %s', (host, pattern, expected) => {
    expect(lists({ mode: 'enforce', hosts: [pattern] }, host)).toBe(expected)
  })
})
