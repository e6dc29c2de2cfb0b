import { describeAtFullLength, PATIENCE_MS, type StreamClient, WebhookReceiver, waitFor } from '@restante/testkit'
import { arrival, mailTo } from '../support/mail.ts'
import { eventAbout, openStream } from '../support/streams.ts'
import { useOwnSystem } from '../support/suite.ts'
import { createTenant, newUsername } from '../support/tenants.ts'
import { knotBehindUnbound, type Names, zoneInMemory } from './names.ts'
import { verdictsOf } from './verdicts.ts'

const NAME = 'agents.example-people.test'

describe('a custom domain', () => describeStory('domains', zoneInMemory))

describeAtFullLength(
  { programs: ['knotd', 'unbound'] },
  'a custom domain on Knot DNS, behind resolvers that cache',
  () => describeStory('domains-knot', knotBehindUnbound),
)

/** @param folder of its system. */
function describeStory(folder: string, open: () => Promise<Names>): void {
  let names: Names
  const system = useOwnSystem(folder, async () => {
    names = system.cleanUp(await open())
    return { DNS_SERVERS: names.servers, TRACKING_TLS_BY_PROXY: 'true' }
  })
  const receiver = new WebhookReceiver()
  let stream: StreamClient
  let inboxId: string

  beforeAll(async () => {
    const { client } = system.tenant
    await client.webhooks.create({ url: (await receiver.start()).url, eventTypes: ['domain.verified'] })
    system.cleanUp(receiver)
    stream = await openStream(system.endpoints, system.tenant.key, { event_types: ['domain.verified'] })
    const created = await client.domains.create({ domain: `${NAME}.`, trackingEnabled: true })
    expect(created).toMatchObject({ domainId: NAME, status: 'NOT_STARTED' })
    await names.publish(await zoneFileOf(NAME), system.peer.domain)
    await client.domains.verify(NAME)
  })
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
      { what: `${NAME} to be verified`, timeout: 2 * PATIENCE_MS },
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
    expect(await verdictsOf(mail, names.servers.split(','))).toEqual({
      spf: 'pass',
      dkim: [[NAME, 'pass']],
      dmarc: 'pass',
      policy: 'reject',
    })
    expect((await arrival(system, inboxId, sent.messageId)).labels).toContain('sent')
  })

  it('has the opening of its mail told by the image in it: in an event, a label and a time, once', async () => {
    const { client, key } = system.tenant
    const openings = await openStream(system.endpoints, key, { event_types: ['message.opened'] })
    const send = async () => {
      const to = system.peer.address(newUsername())
      const body = { to, subject: 'Tracked', html: '<p>Hello</p>', trackOpens: true }
      const { messageId } = await client.inboxes.messages.send(inboxId, body)
      const html = String((await system.peer.server.next(to)).parsed.html)
      const [, host, path = ''] = /<img src="https:\/\/([^/"]+)(\/o\/[\w-]+)"/.exec(html) ?? []
      expect(host).toBe(`link.${NAME}`)
      return { messageId, path }
    }
    /** Loads an image as the proxy in front asks for it. */
    const load = async (path: string) => {
      const response = await fetch(`${system.endpoints.gatewayUrl}${path}`)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/gif'])
    }
    const [opened, unopened, last] = [await send(), await send(), await send()]
    await load(`/o/${'a'.repeat(43)}`)
    for (let times = 0; times < 3; times++) await load(opened.path)
    await eventAbout(openings, opened.messageId, 'message.opened')
    await load(opened.path)
    await load(last.path)
    await eventAbout(openings, last.messageId, 'message.opened')
    const messages = await Promise.all(
      [opened, unopened, last].map(({ messageId }) => client.inboxes.messages.get(inboxId, messageId)),
    )
    expect(messages.map(({ labels }) => labels.includes('opened'))).toEqual([true, false, true])
    expect(openings.events.map((event) => event['event_type'])).toEqual(['message.opened', 'message.opened'])
    openings.close()
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
    expect((await client.inboxes.messages.list(inboxId)).count).toBe(5)
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
}
