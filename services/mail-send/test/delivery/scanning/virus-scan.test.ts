import { randomUUID } from 'node:crypto'
import { countRows, FakeClamd, queryRows, waitFor } from '@restante/testkit'
import { register } from 'prom-client'
import { age, DOMAIN, type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../../support/fixture.ts'

const clamd = new FakeClamd()
let fixture: Fixture

beforeAll(async () => {
  await clamd.start()
  fixture = await startWorld({ CLAMD_URL: clamd.url, CLAMD_TIMEOUT: '30s' })
  fixture.peers.answers = {
    'mail-ingest.placeSent': async () => ({}),
    'mail-ingest.acceptInbound': async () => ({ outcome: 'accepted' }),
    'gateway.resolveRecipients': async ({ addresses }) => ({
      recipients: addresses.map((given) => ({
        status: 'deliver',
        given,
        address: given,
        organization_id: randomUUID(),
        pod_id: randomUUID(),
        inbox_uid: randomUUID(),
      })),
    }),
  }
})
afterAll(async () => {
  await fixture.stop()
  await clamd.stop()
})
beforeEach(() => {
  clamd.conduct = () => ({ answer: 'stream: OK' })
})

const VIRUS = { answer: 'stream: Win.Test.EICAR_HDB-1 FOUND' } as const
const someone = (domain = 'outside.example') => `ann-${randomUUID().slice(0, 8)}@${domain}`

async function send(to: string[], text: string): Promise<string> {
  const answer = await fixture.call('messages.send', inboxCaller(), { path: '/messages/send', body: { to, text } })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}
const finding = (word: string) => {
  clamd.conduct = (stream) => (stream.includes(word) ? VIRUS : { answer: 'stream: OK' })
}
const scansOf = (word: string) => clamd.streams.filter((stream) => stream.includes(word)).length
const statesOf = (messageId: string) =>
  queryRows<{ state: string }>(
    fixture.db,
    'select state from deliveries d join sends s on s.id = d.send_id where message_id = $1',
    messageId,
  )
const verdictOf = async (messageId: string) =>
  (
    await queryRows<{ verdict: string | null }>(
      fixture.db,
      'select virus_verdict as verdict from sends where message_id = $1',
      messageId,
    )
  )[0]?.verdict
async function scans(outcome: string): Promise<number> {
  const { values = [] } = (await register.getSingleMetric('restante_virus_scans_total')?.get()) ?? {}
  return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0
}

describe('an outgoing message with a virus', () => {
  it('is rejected as a whole with one event, and reaches nobody, at no destination and in no inbox here', async () => {
    const word = randomUUID()
    finding(word)
    const to = [someone(), someone('other.example'), someone('third.example'), `desk@${DOMAIN}`]
    const id = await send(to, word)
    const fact = await factOf(fixture, id, 'delivery.rejected')
    expect(fact.payload['reason']).toBe('A virus was found in the message.')
    const timers = () => countRows(fixture.db, 'timers where starts_with(kind, $1)', 'delivery')
    await waitFor(async () => (await timers()) === 0, { what: 'the attempts to end' })
    expect(await statesOf(id)).toEqual(to.map(() => ({ state: 'rejected' })))
    // What comes later in the topic was published later: there is nothing else about this message before it.
    const later = await send([someone()], 'clean')
    await factOf(fixture, later, 'delivery.delivered')
    expect(factsAbout(fixture, id).map(({ type }) => type)).toEqual(['message.accepted', 'delivery.rejected'])
    for (const address of to) expect(fixture.outside.attempts).not.toContain(address)
    expect(fixture.peers.requests('mail-ingest.acceptInbound')).toEqual([])
    expect(scansOf(word)).toBe(1)
    expect(await countRows(fixture.db, 'list_entries')).toBe(0)
  })
})

describe('an outgoing message without a virus', () => {
  it('is scanned once, for all its destinations and attempts, with the bytes that leave', async () => {
    const word = randomUUID()
    const refused = someone()
    fixture.outside.answerRecipient(refused, '450 4.2.0 later')
    const to = [refused, someone('other.example'), someone('third.example'), `desk@${DOMAIN}`]
    const id = await send(to, word)
    await fixture.outside.next(refused)
    await waitFor(async () => (await statesOf(id)).every(({ state }) => state === 'delivered'), { what: 'all' })
    expect(scansOf(word)).toBe(1)
    expect(await verdictOf(id)).toBe('clean')
  })

  it('leaves when the scanner is only suspicious', async () => {
    clamd.conduct = () => ({ answer: 'stream: Heuristics.Phishing.Email.SpoofedDomain FOUND' })
    const to = someone()
    const id = await send([to], 'Hello')
    await fixture.outside.next(to)
    expect(await verdictOf(id)).toBe('suspicious')
  })

  it('waits while clamd is down, longer than retries last, and is then delivered', async () => {
    const before = await scans('unavailable')
    await clamd.stop()
    const to = someone()
    const id = await send([to], 'Hello')
    await waitFor(async () => (await scans('unavailable')) > before, { what: 'an attempt' })
    await age(fixture, id)
    const inTime = await scans('unavailable')
    // The first of them may have begun in time.
    await waitFor(async () => (await scans('unavailable')) > inTime + 1, {
      what: 'an attempt after the end of retries',
    })
    expect(await statesOf(id)).toEqual([{ state: 'queued' }])
    await clamd.start()
    await waitFor(() => fixture.outside.mailsTo(to).length > 0, { what: 'the mail' })
    expect(factsAbout(fixture, id).map(({ type }) => type)).not.toContain('delivery.bounced')
  })

  it('leaves without a scan after three attempts that clamd can not scan', async () => {
    const word = randomUUID()
    clamd.conduct = (stream) => (stream.includes(word) ? 'end' : { answer: 'stream: OK' })
    const to = someone()
    const id = await send([to], word)
    await waitFor(() => fixture.outside.mailsTo(to).length > 0, { what: 'the mail' })
    expect(scansOf(word)).toBe(3)
    expect(await verdictOf(id)).toBe('unscanned')
  })

  it('is scanned by another process when the one that began has died', async () => {
    await clamd.stop()
    const to = someone()
    const id = await send([to], 'Hello')
    const leased = "update sends set scan_leased_until = now() + interval '3 seconds' where message_id = $1"
    await queryRows(fixture.db, leased, id)
    await clamd.start()
    await waitFor(() => fixture.outside.mailsTo(to).length > 0, { what: 'the mail' })
    expect(await verdictOf(id)).toBe('clean')
  })
})

it('scans no mail of the installation itself', async () => {
  const word = randomUUID()
  const to = someone()
  const mail = { id: randomUUID(), to, subject: 'Your code', text: word }
  expect((await fixture.internal('mail-send.sendSystemMail', 'gateway', mail)).status).toBe(200)
  await fixture.outside.next(to)
  expect(scansOf(word)).toBe(0)
})
