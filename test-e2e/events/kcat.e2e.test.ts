import { topics } from '@restante/contracts/events'
import { engines, waitFor } from '@restante/testkit'
import { ClientSecretBasic } from 'openid-client'
import { CALLBACK, signIn } from '../sign-in/openid-client.ts'
import { registerApp } from '../support/apps/registration.ts'
import { newEvent } from '../support/calendars.ts'
import { mailTo } from '../support/mail.ts'
import { newDomainName } from '../support/organizations.ts'
import { describeWith, output } from '../support/programs/programs.ts'
import { deliveryReport } from '../support/reports.ts'
import { useSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'

interface Printed {
  readonly headers: ReadonlyMap<string, string>
  readonly key: string
  readonly value: string
}

/** The output of `kcat -C -e -f '%h\n%k\n%s\n'` for a topic. */
async function read(topic: string): Promise<Printed[]> {
  const printed = await output('kcat', [
    ...['-b', engines.kafkaBrokers.join(','), '-t', topic, '-C', '-q', '-o', 'beginning', '-e'],
    ...['-f', '%h\\n%k\\n%s\\n'],
  ])
  const lines = printed.trimEnd().split('\n')
  const records: Printed[] = []
  for (let at = 0; at + 2 < lines.length; at += 3) {
    const [headers = '', key = '', value = ''] = lines.slice(at, at + 3)
    records.push({ headers: new Map(headers.split(',').map(pair)), key, value })
  }
  return records
}

function pair(text: string): [string, string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Topics on which nothing is published: the records of the domain are not in DNS. */
const SILENT = ['domains.events']

describeWith({ programs: ['kcat'] }, 'kcat', () => {
  const system = useSystem()

  /**
   * Produces events on each topic: mail in, mail out, a report about sent mail, a draft, an entry of a list, a domain, an
   * event of a calendar, and a sign-in.
   */
  beforeAll(async () => {
    const { client, api } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    await newEvent(api, inboxId)
    await newSignIn(inboxId)
    await mailTo(system, inboxId)
    await client.inboxes.lists.create(inboxId, 'receive', 'block', { entry: 'listed.example' })
    await client.inboxes.drafts.create(inboxId, { subject: 'Later' })
    await client.domains.create({ domain: newDomainName() })
    const to = system.peer.address(newUsername())
    await client.inboxes.messages.send(inboxId, { to, subject: 'Out', text: 'Hello' })
    const { mailFrom } = await system.peer.server.next(to)
    await system.peer.send({
      envelope: { from: '', to: mailFrom },
      raw: deliveryReport({ reporter: system.peer.domain, returnPath: mailFrom, recipient: to, status: '5.1.1' }),
    })
  })

  async function newSignIn(inboxId: string): Promise<void> {
    const { endpoints, tenant } = system
    const { appId, clientSecret } = await registerApp(endpoints.operator, { redirect_uris: [CALLBACK] })
    const authentication = ClientSecretBasic(clientSecret)
    const app = { issuer: endpoints.signInUrl, clientId: appId, authentication, scope: 'openid' }
    await signIn({ inboxId, api: tenant.api }, app)
  }

  it.each(SILENT)('shows nothing on %s', async (name) => {
    expect(await read(system.endpoints.topicPrefix + name)).toEqual([])
  })

  const spoken = Object.values(topics).filter(({ name }) => !SILENT.includes(name))
  it.each(spoken)('shows readable JSON and the CloudEvents headers on $name', async (topic) => {
    const records = await waitFor(
      async () => {
        const found = await read(system.endpoints.topicPrefix + topic.name)
        return found.length > 0 && found
      },
      { what: `a record on ${topic.name}` },
    )
    for (const { headers, key, value } of records) {
      expect(JSON.parse(value)).toEqual(expect.any(Object))
      expect(key).not.toBe('')
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('ce_specversion')).toBe('1.0')
      expect(headers.get('ce_id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(Object.keys(topic.events)).toContain(headers.get('ce_type'))
      expect(headers.get('ce_source')).toContain(topic.producer)
      expect(headers.get('ce_subject')).not.toBe('')
      expect(Number.isNaN(Date.parse(headers.get('ce_time') ?? ''))).toBe(false)
      expect(headers.get('ce_organizationid')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  it('shows public events as webhooks and streams deliver them, under their event_id', async () => {
    const received = await waitFor(
      async () =>
        (await read(`${system.endpoints.topicPrefix}mail.messages`)).find(
          ({ headers }) => headers.get('ce_type') === 'message.received',
        ),
      { what: 'a received mail on the topic' },
    )
    expect(JSON.parse(received.value)).toMatchObject({
      type: 'event',
      event_type: 'message.received',
      event_id: received.headers.get('ce_id'),
    })
  })

  it('shows no secret of a key', async () => {
    const { apiKeyId } = await system.tenant.client.apiKeys.create({})
    const credential = await waitFor(
      async () => (await read(`${system.endpoints.topicPrefix}tenancy`)).find(({ value }) => value.includes(apiKeyId)),
      { what: 'the new key on the topic' },
    )
    expect(credential.value).not.toMatch(/am_us_[0-9a-f]{64}|secret|hash/)
  })
})
