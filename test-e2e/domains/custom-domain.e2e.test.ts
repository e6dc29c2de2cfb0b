import { DnsZone, type StreamClient, WebhookReceiver, waitFor } from '@restante/testkit'
import { outsideNames } from '../stack/names.ts'
import { arrival, mailTo } from '../support/mail.ts'
import { openStream } from '../support/streams.ts'
import { useOwnSystem } from '../support/suite.ts'
import { createTenant } from '../support/tenants.ts'
import { verdictsOf } from './verdicts.ts'
import { publishZoneFile } from './zone-file.ts'

const NAME = 'agents.example-people.test'
/** Hosts of the installation, as the local stack names them. */
const MX = 'mx.restante.test'
const SPF = 'spf.restante.test'

describe('a custom domain', () => {
  const zone = new DnsZone().rule(outsideNames)
  zone.set(MX, { type: 'A', address: '127.0.0.1' })
  zone.set(SPF, { type: 'TXT', data: 'v=spf1 ip4:127.0.0.0/8 -all' })
  const system = useOwnSystem('domains', async () => ({ DNS_SERVERS: (await zone.start()).address }))
  const receiver = new WebhookReceiver()
  let stream: StreamClient
  let inboxId: string

  beforeAll(async () => {
    system.cleanUp(zone)
    const { client } = system.tenant
    await client.webhooks.create({ url: (await receiver.start()).url, eventTypes: ['domain.verified'] })
    system.cleanUp(receiver)
    stream = await openStream(system.endpoints, system.tenant.key, { event_types: ['domain.verified'] })
    const created = await client.domains.create({ domain: `${NAME}.` })
    expect(created).toMatchObject({ domainId: NAME, status: 'NOT_STARTED' })
    publishZoneFile(zone, await zoneFileOf(NAME))
    await client.domains.verify(NAME)
  }, 120_000)
  afterAll(() => stream.close())

  async function zoneFileOf(domain: string): Promise<string> {
    return Buffer.from(await (await system.tenant.client.domains.getZoneFile(domain)).arrayBuffer()).toString()
  }

  it('is verified once its zone file is published as it was printed', async () => {
    const verified = await waitFor(
      async () => {
        const domain = await system.tenant.client.domains.get(NAME)
        return domain.status === 'VERIFIED' && domain
      },
      { what: `${NAME} to be verified` },
    )
    expect(verified.reason).toBeUndefined()
    expect(verified.records.map(({ status }) => status)).toEqual(verified.records.map(() => 'VALID'))
  })

  it('is announced to webhooks and streams with one event, the same bytes for both', async () => {
    await waitFor(() => receiver.requests.length > 0 && stream.events.length > 0, { what: 'domain.verified' })
    const [event] = stream.events
    expect(event).toMatchObject({ event_type: 'domain.verified', domain: { domain_id: NAME, status: 'VERIFIED' } })
    expect(receiver.requests.map(({ body }) => body)).toEqual([JSON.stringify(event)])
    await system.tenant.client.domains.verify(NAME)
    await waitFor(async () => (await system.tenant.client.domains.get(NAME)).status === 'VERIFIED', { what: 'a check' })
    expect(stream.events).toHaveLength(1)
  })

  it('has inboxes, which receive mail by SMTP', async () => {
    inboxId = (await system.tenant.client.inboxes.create({ username: 'desk', domain: NAME })).inboxId
    expect(inboxId).toBe(`desk@${NAME}`)
    expect((await mailTo(system, inboxId, { subject: 'To a custom domain' })).subject).toBe('To a custom domain')
  })

  it('sends mail that passes SPF, DKIM and DMARC at its receiver', async () => {
    const to = system.peer.address('reader')
    const sent = await system.tenant.client.inboxes.messages.send(inboxId, { to, subject: 'Signed', text: 'Hello' })
    const mail = await system.peer.server.next(to)
    expect(mail.mailFrom).toMatch(new RegExp(`@mail\\.${NAME}$`))
    expect(await verdictsOf(mail, zone.address)).toEqual({
      spf: 'pass',
      dkim: [[NAME, 'pass']],
      dmarc: 'pass',
      policy: 'reject',
    })
    expect((await arrival(system, inboxId, sent.messageId)).labels).toContain('sent')
  })

  it('cannot be registered by another organization once it is verified', async () => {
    const stranger = await createTenant(system.endpoints)
    await expect(stranger.client.domains.create({ domain: NAME })).rejects.toMatchObject({
      statusCode: 403,
      body: { code: 'resource_taken' },
    })
  })

  it('takes its inboxes out of service when it is deleted, and leaves them readable', async () => {
    const { client } = system.tenant
    await client.domains.delete(NAME)
    await expect(client.domains.get(NAME)).rejects.toMatchObject({ statusCode: 404 })
    expect((await client.inboxes.messages.list(inboxId)).count).toBe(2)
    const send = () => client.inboxes.messages.send(inboxId, { to: system.peer.address(), text: 'Hello' })
    await waitFor(
      async () => {
        await expect(send()).rejects.toMatchObject({ statusCode: 403, body: { code: 'domain_not_verified' } })
        return true
      },
      { what: 'sending to be refused' },
    )
    await waitFor(
      async () => {
        await expect(system.peer.send({ to: inboxId, subject: 'Too late', text: 'Hello' })).rejects.toThrow('5.1.2')
        return true
      },
      { what: 'mail to be refused' },
    )
  })
})
