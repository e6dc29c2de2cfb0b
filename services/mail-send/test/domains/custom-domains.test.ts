import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { OpenImage, ReturnPath } from '@restante/mime'
import { countRows, EventPublisher, organizationDeletedEvent, queryRows, waitFor } from '@restante/testkit'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { CustomDomain } from '../support/custom-domain.ts'
import { type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../support/fixture.ts'

let fixture: Fixture
let publisher: EventPublisher
let returnPath: ReturnPath

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PRIVATE = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const PUBLIC = pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')

beforeAll(async () => {
  fixture = await startWorld()
  publisher = new EventPublisher(fixture.topics.kafka)
  returnPath = new ReturnPath(fixture.config.returnPath)
})
afterAll(async () => {
  await publisher.stop()
  await fixture.stop()
})
beforeEach(() => {
  fixture.peers.answers = {
    'mail-ingest.placeSent': async () => ({}),
    'domains-dns.getSigningKey': async ({ domain_uid }) => ({
      key: { domain: domains.get(domain_uid) ?? '', selector: 'r1', private_key: PRIVATE },
    }),
  }
})

/** Names of the domains whose keys the fake owner knows. */
const domains = new Map<string, string>()
const someone = () => `ann-${randomUUID().slice(0, 8)}@outside.example`
const keysAsked = (uid: string) =>
  fixture.peers.requests('domains-dns.getSigningKey').filter(({ domain_uid }) => domain_uid === uid).length

function aDomain(): CustomDomain {
  const domain = new CustomDomain(fixture, publisher)
  domains.set(domain.uid, domain.name)
  return domain
}

describe('mail of an inbox on a custom domain', () => {
  it('is signed with the key of the domain, and returns to it; its recipients cannot unsubscribe', async () => {
    const domain = await aDomain().set()
    const to = someone()
    const { status, body } = await domain.send({ to, subject: 'Hello', text: 'How are you?' })
    expect(status).toBe(200)
    expect(String(body['message_id'])).toContain(`@${domain.name}>`)
    const mail = await fixture.outside.next(to)
    const [, at] = mail.mailFrom.split('@')
    expect(at).toBe(`rp.${domain.name}`)
    expect(returnPath.deliveryOf(mail.mailFrom)).toMatch(/^[0-9a-f-]{36}$/)
    expect(mail.raw.toString()).not.toMatch(/^List-Unsubscribe/m)
    const { results } = await dkimVerify(mail.raw, {
      resolver: async (name, type) => {
        if (type === 'TXT' && name === `r1._domainkey.${domain.name}`) return [[`v=DKIM1; k=rsa; p=${PUBLIC}`]]
        throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
      },
    })
    expect(results).toMatchObject([{ signingDomain: domain.name, status: { result: 'pass', aligned: domain.name } }])
  })

  it('from a subdomain follows the most specific domain of its organization', async () => {
    const domain = await aDomain().set()
    const to = someone()
    expect((await domain.send({ to, text: 'hello' }, domain.inbox('x.y.'))).status).toBe(200)
    expect((await fixture.outside.next(to)).mailFrom).toMatch(new RegExp(`@rp\\.${domain.name}$`))
  })

  it('keeps the headers to unsubscribe that its sender gives', async () => {
    const domain = await aDomain().set()
    const to = someone()
    const headers = { 'List-Unsubscribe': '<https://customer.example/u>' }
    expect((await domain.send({ to, text: 'hello', headers })).status).toBe(200)
    expect((await fixture.outside.next(to)).raw.toString()).toContain('List-Unsubscribe: <https://customer.example/u>')
  })

  it('asks the owner for the key once', async () => {
    const domain = await aDomain().set()
    for (let sends = 0; sends < 3; sends++) await domain.send({ to: someone(), text: 'hello' })
    expect(keysAsked(domain.uid)).toBe(1)
  })

  it('is 503 while the owner of the key does not answer, and leaves nothing', async () => {
    const domain = await aDomain().set()
    fixture.peers.answers['domains-dns.getSigningKey'] = async () => 500
    const key = randomUUID()
    const to = someone()
    expect(await domain.send({ to, text: 'hello' }, undefined, key)).toMatchObject({ status: 503 })
    expect(await countRows(fixture.db, 'sends where organization_id = $1', domain.caller.organization_id)).toBe(0)
    fixture.peers.answers['domains-dns.getSigningKey'] = async () => ({
      key: { domain: domain.name, selector: 'r1', private_key: PRIVATE },
    })
    expect(await domain.send({ to, text: 'hello' }, undefined, randomUUID())).toMatchObject({ status: 200 })
  })
})

describe('403 domain_not_verified', () => {
  const refused = { status: 403, body: { code: 'domain_not_verified' } }

  it('is the answer for a domain that is unknown, of another organization, not ready, or deleted', async () => {
    const domain = aDomain()
    expect(await domain.send({ to: someone(), text: 'hello' })).toMatchObject(refused)
    await domain.set({ sending_ready: false, status: 'PENDING' })
    expect(await domain.send({ to: someone(), text: 'hello' })).toMatchObject(refused)
    await domain.set()
    const stranger = { ...inboxCaller(), inbox: domain.inbox().inbox }
    expect(await domain.send({ to: someone(), text: 'hello' }, stranger)).toMatchObject(refused)
    expect(await domain.send({ to: someone(), text: 'hello' })).toMatchObject({ status: 200 })
    await domain.delete()
    expect(await domain.send({ to: someone(), text: 'hello' })).toMatchObject(refused)
  })

  it('is the answer for a former owner, once another organization has proven the domain', async () => {
    const domain = await aDomain().set()
    expect(await domain.send({ to: someone(), text: 'hello' })).toMatchObject({ status: 200 })
    await domain.set({ proven: false, status: 'FAILED' })
    expect(await domain.send({ to: someone(), text: 'hello' })).toMatchObject(refused)
  })

  it('is not the answer before the owner of domains was asked, whose news may not have arrived', async () => {
    const domain = aDomain()
    domain.register()
    expect(await domain.send({ to: someone(), text: 'hello' })).toMatchObject({ status: 200 })
  })

  it('is 503 instead while the owner of domains does not answer', async () => {
    const domain = await aDomain().set({ sending_ready: false })
    fixture.peers.answers['domains-dns.findRegistrations'] = async () => 503
    expect(await domain.send({ to: someone(), text: 'hello' })).toMatchObject({ status: 503 })
    fixture.peers.answers = { ...fixture.peers.answers, 'domains-dns.findRegistrations': async () => ({ domains: [] }) }
    expect(await domain.send({ to: someone(), text: 'hello' })).toMatchObject(refused)
  })

  it('is the answer when its owner has deleted the key already', async () => {
    const domain = await aDomain().set()
    fixture.peers.answers['domains-dns.getSigningKey'] = async () => ({})
    expect(await domain.send({ to: someone(), text: 'hello' })).toMatchObject(refused)
  })

  it('leaves no registration of a deleted organization', async () => {
    const domain = await aDomain().set()
    await publisher.publish(topics.tenancy, organizationDeletedEvent(domain.caller.organization_id))
    const left = () => countRows(fixture.db, 'registered_domains where id = $1', domain.uid)
    await waitFor(async () => (await left()) === 0, { what: 'the purge' })
  })
})

describe('a scheduled draft of a deleted domain', () => {
  it('fails once and for good', async () => {
    const domain = await aDomain().set()
    const caller = domain.inbox()
    const { organization_id, inbox, sending, unverified, take_overs = 0 } = caller
    fixture.peers.answers['gateway.getSendingInbox'] = async () => ({
      sender: { organization_id, inbox, sending, unverified, take_overs },
    })
    const body = { to: someone(), text: 'later', send_at: new Date(Date.now() + 3_600_000).toISOString() }
    const created = await fixture.call('drafts.create', caller, { path: '/drafts', body })
    expect(created).toMatchObject({ status: 200, body: { send_status: 'scheduled' } })
    await domain.delete()
    const path = `/drafts/${String(created.body['draft_id'])}`
    const now = { method: 'PATCH', path, body: { send_at: new Date().toISOString() } } as const
    expect(await fixture.call('drafts.update', caller, now)).toMatchObject({ status: 200 })
    const status = async () => (await fixture.call('drafts.get', caller, { method: 'GET', path })).body['send_status']
    await waitFor(async () => (await status()) === 'failed', { what: 'the failure' })
    expect(await countRows(fixture.db, `timers where key = $1`, created.body['draft_id'])).toBe(0)
    expect(await countRows(fixture.db, 'sends where organization_id = $1', organization_id)).toBe(0)
  })
})

describe('track_opens', () => {
  const tracking = (domain: CustomDomain) => ({ tracking_enabled: true, tracking_host: `link.${domain.name}` })
  const open = (token: string) => fixture.internal('mail-send.recordOpen', 'gateway', { token })
  const TOKEN = /<img src="https:\/\/([^/"]+)\/o\/([\w-]{43})"/

  it('adds one image to the HTML; its first loading, and no later one, is an event', async () => {
    const domain = aDomain()
    await domain.set(tracking(domain))
    const [ann, bob] = [someone(), someone()]
    const html = '<html><body><p>Hi</p></body></html>'
    const { body } = await domain.send({ to: [ann, bob], html, track_opens: true })
    const mails = await Promise.all([ann, bob].map((to) => fixture.outside.next(to)))
    const found = mails.map(({ parsed }) => TOKEN.exec(String(parsed.html)))
    expect(found.map((match) => match?.[1])).toEqual([`link.${domain.name}`, `link.${domain.name}`])
    expect(found[0]?.[2]).toBe(found[1]?.[2])
    const accepted = await factOf(fixture, body['message_id'], 'message.accepted')
    expect(accepted.payload['extracted_html']).toBe(html)
    const token = found[0]?.[2] ?? ''
    await Promise.all(Array.from({ length: 10 }, () => open(token)))
    const opened = await factOf(fixture, body['message_id'], 'delivery.opened')
    expect(opened.payload).toMatchObject({ message_id: body['message_id'], thread_id: body['thread_id'] })
    await open(token)
    await domain.send({ to: ann, text: 'a later event' })
    await fixture.outside.next(ann)
    expect(factsAbout(fixture, body['message_id']).filter(({ type }) => type === 'delivery.opened')).toHaveLength(1)
    expect(
      await countRows(fixture.db, `outbox where type = 'delivery.opened' and subject = $1`, body['message_id']),
    ).toBe(1)
  })

  it('changes nothing for an altered token, nor for that of a message without an image', async () => {
    const domain = await aDomain().set()
    const { body } = await domain.send({ to: someone(), html: '<p>Hi</p>' })
    const images = new OpenImage(fixture.config.returnPath.secret)
    const [send] = await queryRows<{ id: string }>(
      fixture.db,
      'select id from sends where message_id = $1',
      body['message_id'],
    )
    const [, , token = ''] = TOKEN.exec(images.addTo('', 'link.test', send?.id ?? '')) ?? []
    expect(await open(token)).toMatchObject({ status: 200 })
    expect(await open(`${token.slice(0, -2)}xx`)).toMatchObject({ status: 200 })
    await factOf(fixture, body['message_id'], 'delivery.delivered')
    expect(
      await countRows(fixture.db, 'sends where message_id = $1 and opened_at is not null', body['message_id']),
    ).toBe(0)
  })

  it.each<[string, (domain: CustomDomain) => object, object]>([
    ['without tracking', () => ({}), { html: '<p>Hi</p>' }],
    ['while its record or certificate is missing', () => ({ tracking_enabled: true }), { html: '<p>Hi</p>' }],
    ['without html', tracking, { text: 'Hi' }],
    ['with an empty html', tracking, { html: '' }],
  ])('is 422 %s, and nothing is sent', async (_, state, content) => {
    const domain = aDomain()
    await domain.set(state(domain))
    const answer = await domain.send({ to: someone(), track_opens: true, ...content })
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'unprocessable', fix: expect.stringMatching(/omit track_opens/i) },
    })
    expect(await countRows(fixture.db, 'sends where organization_id = $1', domain.caller.organization_id)).toBe(0)
  })

  it('is accepted once the owner of domains serves the images, also before an event has told so', async () => {
    const domain = await aDomain().set({ tracking_enabled: true })
    domain.register(tracking(domain))
    const answer = await domain.send({ to: someone(), track_opens: true, html: '<p>Hi</p>' })
    expect(answer).toMatchObject({ status: 200 })
  })

  it('is 422 on the domain of the installation', async () => {
    const caller = inboxCaller()
    const body = { to: someone(), html: '<p>Hi</p>', track_opens: true }
    expect(await fixture.call('messages.send', caller, { path: '/messages/send', body })).toMatchObject({ status: 422 })
  })
})
