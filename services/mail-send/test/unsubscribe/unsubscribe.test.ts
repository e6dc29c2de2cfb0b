import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { topics } from '@restante/contracts/events'
import { Outbox } from '@restante/messaging'
import { deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { UnsubscribeAddress, UnsubscribeLink } from '@restante/mime'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { feedbackConsumer } from '../../src/feedback/consumers.ts'
import { Reports } from '../../src/feedback/reports.ts'
import { Unsubscribing } from '../../src/unsubscribe/unsubscribing.ts'
import { DOMAIN, type Fixture, factOf, inboxCaller, startWorld } from '../support/fixture.ts'

let fixture: Fixture
let keys: string
let link: UnsubscribeLink

beforeAll(async () => {
  keys = await mkdtemp(path.join(tmpdir(), 'dkim-'))
  const pem = async (name: string, { privateKey }: ReturnType<typeof generateKeyPairSync>) => {
    await writeFile(path.join(keys, name), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    return path.join(keys, name)
  }
  fixture = await startWorld({
    DKIM_SELECTOR: 's1',
    DKIM_KEY_FILE: await pem('rsa.pem', generateKeyPairSync('rsa', { modulusLength: 2048 })),
    DKIM_ED25519_SELECTOR: 's2',
    DKIM_ED25519_KEY_FILE: await pem('ed25519.pem', generateKeyPairSync('ed25519')),
  })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
  link = new UnsubscribeLink({ publicUrl: fixture.config.publicUrl, secret: fixture.config.returnPath.secret })
})
afterAll(async () => {
  await fixture.stop()
  await rm(keys, { recursive: true })
})

const someone = () => `Ann-${randomUUID().slice(0, 8)}@outside.example`
const FIELD = /^List-Unsubscribe: <(\S+)>,\r\n <mailto:(\S+)\?subject=unsubscribe>\r\n/m

async function send(body: Record<string, unknown>, caller = inboxCaller()): Promise<string> {
  const { status, body: sent } = await fixture.call('messages.send', caller, { path: '/messages/send', body })
  expect(status).toBe(200)
  return String(sent['message_id'])
}

/** The link and the address that a recipient got, and the bytes of the mail. */
async function received(to: string) {
  const raw = (await fixture.outside.next(to)).raw.toString('latin1')
  const [, url = '', address = ''] = FIELD.exec(raw) ?? []
  return { raw, url, token: url.slice(url.lastIndexOf('/') + 1), address }
}

async function delivered(caller = inboxCaller(), to = someone()) {
  const messageId = await send({ to, text: 'hello' }, caller)
  await factOf(fixture, messageId, 'delivery.delivered')
  return { caller, to, messageId, ...(await received(to)) }
}

const unsubscribe = (token: string) => fixture.internal('mail-send.unsubscribe', 'gateway', { token })
const find = (token: string) => fixture.internal('mail-send.findUnsubscribe', 'gateway', { token })
const entriesOf = ({ caller }: { caller: ReturnType<typeof inboxCaller> }) =>
  queryRows<{ entry: string; reason: string; version: number }>(
    fixture.db,
    `select entry, reason, version from list_entries
      where organization_id = $1 and tier = 'organization' and direction = 'send' and type = 'block' and read_only`,
    caller.organization_id,
  )
const eventsOf = ({ caller }: { caller: ReturnType<typeof inboxCaller> }) =>
  countRows(fixture.db, `outbox where type = 'list_entry.changed' and key = $1`, caller.organization_id)

describe('mail of a shared domain', () => {
  it('carries a link and an address of its own for each recipient, and signatures that cover them', async () => {
    const [ann, bob] = [someone(), someone()]
    await send({ to: ann, bcc: bob, text: 'hello', headers: { 'list-unsubscribe': '<mailto:own@x.test>' } })
    const mails = await Promise.all([ann, bob].map(received))
    const ids = mails.map(({ token }) => link.deliveryOf(token))
    expect(new Set(ids).size).toBe(2)
    const address = new UnsubscribeAddress(fixture.config.returnPath)
    for (const [at, { raw, url, address: given }] of mails.entries()) {
      const [row] = await queryRows<{ recipient: string }>(
        fixture.db,
        'select recipient from deliveries where id = $1',
        ids[at] ?? '',
      )
      expect(row?.recipient).toBe([ann, bob][at])
      expect(url).toBe(link.linkFor(ids[at] ?? ''))
      expect(address.deliveryOf(given)).toBe(ids[at])
      expect(raw).toContain('\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n')
      expect(raw.match(/^List-Unsubscribe:/gim)).toHaveLength(1)
      const signatures = raw.match(/^DKIM-Signature:(?:.*\r\n)(?:[ \t].*\r\n)*/gm) ?? []
      expect(signatures).toMatchObject(
        [/ a=rsa-sha256;/, / a=ed25519-sha256;/].map((algorithm) => expect.stringMatching(algorithm)),
      )
      for (const signature of signatures) expect(signature).toMatch(/List-Unsubscribe-Post:\s+List-Unsubscribe:/)
      expect(raw).not.toContain('own@x.test')
    }
  })

  it('declares the size that the recipient gets', async () => {
    const { raw, to } = await delivered()
    const declared = fixture.outside.mailsTo(to).at(-1)?.declaredSize
    expect(declared).toBe(raw.length)
  })

  it('has the fields at an inbox here as well, and not in the copy of its sender', async () => {
    const to = `ann-${randomUUID().slice(0, 8)}@${DOMAIN}`
    const inbox = { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID() }
    fixture.peers.answers = {
      ...fixture.peers.answers,
      'mail-ingest.acceptInbound': async () => ({ outcome: 'accepted' }),
      'gateway.resolveRecipients': async () => ({
        recipients: [{ status: 'deliver', given: to, address: to, ...inbox }],
      }),
    }
    const messageId = await send({ to, text: 'inside' })
    await factOf(fixture, messageId, 'delivery.delivered')
    const handedOver = fixture.peers.requests('mail-ingest.acceptInbound').find(({ recipient }) => recipient === to)
    const [, url = ''] = FIELD.exec(handedOver?.fields ?? '') ?? []
    expect(link.deliveryOf(url.slice(url.lastIndexOf('/') + 1))).toBe(handedOver?.delivery_id)
  })
})

describe('mail of the installation itself', () => {
  it('has neither link nor address', async () => {
    const to = someone()
    const mail = { id: randomUUID(), to, subject: 'Your code', text: 'It is 123456.' }
    await fixture.internal('mail-send.sendSystemMail', 'gateway', mail)
    const { raw } = await fixture.outside.next(to)
    expect(raw.toString()).not.toMatch(/^List-Unsubscribe/im)
  })
})

describe('mail-send.unsubscribe', () => {
  it('200: blocks the recipient for the organization, once, with one event', async () => {
    const sent = await delivered()
    const answers = await Promise.all(Array.from({ length: 8 }, () => unsubscribe(sent.token)))
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(body).toEqual({ unsubscribe: { recipient: 'A•••@outside.example', suppressed: true } })
    }
    const entry = sent.to.toLowerCase()
    expect(await entriesOf(sent)).toEqual([{ entry, reason: 'Unsubscribed via List-Unsubscribe', version: 1 }])
    expect(await eventsOf(sent)).toBe(1)
    const again = await fixture.call('messages.send', sent.caller, { path: '/messages/send', body: { to: sent.to } })
    expect(again.status).toBe(403)
    expect(again.body['message']).toContain(`${entry} (Unsubscribed via List-Unsubscribe)`)
  })

  it('turns an entry that the organization made into one that it cannot delete', async () => {
    const sent = await delivered()
    const path = `/lists/send/block/${encodeURIComponent(sent.to)}`
    const { inbox: _, ...organization } = sent.caller
    await fixture.call('lists.create', organization, { path: '/lists/send/block', body: { entry: sent.to } })
    await unsubscribe(sent.token)
    expect(await fixture.call('lists.delete', organization, { method: 'DELETE', path })).toMatchObject({
      status: 409,
      body: { code: 'cannot_delete' },
    })
  })

  it('leaves an address that is suppressed for another reason as it is', async () => {
    const sent = await delivered()
    await queryRows(
      fixture.db,
      `insert into list_entries (id, tier, scope_id, direction, type, entry, entry_type, organization_id, reason, read_only)
       values ($1, 'organization', $2, 'send', 'block', $3, 'email', $2, 'complained', true)`,
      randomUUID(),
      sent.caller.organization_id,
      sent.to.toLowerCase(),
    )
    expect((await unsubscribe(sent.token)).status).toBe(200)
    expect(await entriesOf(sent)).toMatchObject([{ reason: 'complained', version: 1 }])
    expect(await eventsOf(sent)).toBe(0)
  })

  it('does not commit an entry without its event when the database fails in between', async () => {
    const sent = await delivered()
    fixture.wire.cutAfterCommitOf('Unsubscribed via List-Unsubscribe')
    const answer = await unsubscribe(sent.token)
    fixture.wire.restore()
    expect(answer.status).toBeGreaterThanOrEqual(500)
    await waitFor(async () => (await unsubscribe(sent.token)).status === 200, { what: 'the database to be back' })
    expect(await entriesOf(sent)).toHaveLength(1)
    expect(await eventsOf(sent)).toBe(1)
  })
})

describe('mail-send.findUnsubscribe', () => {
  it('200: shows whom a link is about, and changes nothing', async () => {
    const sent = await delivered()
    const shown = { recipient: 'A•••@outside.example' }
    expect((await find(sent.token)).body).toEqual({ unsubscribe: { ...shown, suppressed: false } })
    expect(await entriesOf(sent)).toEqual([])
    await unsubscribe(sent.token)
    expect((await find(sent.token)).body).toEqual({ unsubscribe: { ...shown, suppressed: true } })
  })

  it('shows nothing for a link that was altered, or whose delivery is gone', async () => {
    const sent = await delivered()
    const forged = new UnsubscribeLink({ publicUrl: 'http://x.test', secret: 'another' }).linkFor(
      link.deliveryOf(sent.token) ?? '',
    )
    const deleted = await delivered()
    await queryRows(fixture.db, 'delete from sends where message_id = $1 returning 1', deleted.messageId)
    for (const token of [
      `${sent.token.slice(0, -1)}_`,
      forged.slice(forged.lastIndexOf('/') + 1),
      deleted.token,
      '',
      'x'.repeat(5_000),
    ]) {
      expect(await find(token)).toMatchObject({ status: 200, body: {} })
      expect((await unsubscribe(token)).body).toEqual({})
    }
    expect(await entriesOf(sent)).toEqual([])
    expect(await entriesOf(deleted)).toEqual([])
  })
})

describe('a mail to the unsubscribe address', () => {
  it('blocks the recipient of the delivery', async () => {
    const sent = await delivered()
    const payload = { delivery_id: link.deliveryOf(sent.token) ?? '', received_at: new Date().toISOString() }
    const event = topics['mail.feedback'].event('unsubscribe.requested', payload, { time: new Date() })
    const another = { ...event, id: randomUUID() }
    const { db } = fixture
    const outbox = new Outbox({ db, service: 'mail-send' })
    const unsubscribing = new Unsubscribing({ db, outbox, link })
    const consumer = feedbackConsumer({ kafka: fixture.topics.kafka, db, reports: new Reports(outbox), unsubscribing })
    await deliverTwiceAndSwapped(consumer, event, another)
    expect(await entriesOf(sent)).toMatchObject([{ reason: 'Unsubscribed via List-Unsubscribe', version: 1 }])
    expect(await eventsOf(sent)).toBe(1)
  })
})
