import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { countRows, DnsZone, queryRows, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'
import { type FakeMailSend, startFakeMailSend } from '../peers/fake-mail-send.ts'

const REGISTERED = 'fbl@bounces.mail.test'
const OTHER = 'Complaints@bounces.mail.test'
const spf = (data: string) => ({ type: 'TXT' as const, data: `v=spf1 ${data}` })

let fixture: Fixture
let zone: DnsZone
let mailSend: FakeMailSend
let feedback: TopicCollection
/** What mail-send was asked for, each question once: a call that was not answered in time is repeated. */
let asked: unknown[]

beforeAll(async () => {
  zone = await new DnsZone().start()
  for (const domain of ['fbl.provider.test', 'arf.second.test', 'stranger.test'])
    zone.set(domain, spf('ip4:127.0.0.1 -all'))
  mailSend = await startFakeMailSend()
  fixture = await openFixture({
    SENDER_AUTH: 'dns',
    DNS_SERVERS: zone.address,
    MAIL_SEND_URL: mailSend.url,
    COMPLAINT_ADDRESSES: `${REGISTERED}=fbl.provider.test/arf.second.test/late.provider.test/slow.provider.test,${OTHER}=arf.second.test`,
  })
  feedback = await fixture.collect('mail.feedback')
})
afterAll(async () => {
  await fixture.stop()
  await Promise.all([zone.stop(), mailSend.stop()])
})
beforeEach(() => {
  asked = []
  mailSend.answers = {}
})

interface Complaint {
  readonly to?: string
  /** Domain of the envelope sender. */
  readonly from?: string
  /** Domain of the author, if it is another. */
  readonly author?: string
  /** Fields of the report. */
  readonly fields?: string
  /** Header of the enclosed original. */
  readonly original?: string
}

async function complain({ to = REGISTERED, from = 'fbl.provider.test', author = from, ...content }: Complaint) {
  const { fields = '', original = '' } = content
  const address = `feedback@${from}`
  const raw =
    `From: feedback@${author}\r\nTo: ${to}\r\nSubject: complaint\r\nMIME-Version: 1.0\r\n` +
    'Content-Type: multipart/report; report-type=feedback-report; boundary=b\r\n\r\n' +
    '--b\r\nContent-Type: text/plain\r\n\r\nThis is an abuse report.\r\n' +
    `--b\r\nContent-Type: message/feedback-report\r\n\r\nFeedback-Type: abuse\r\nVersion: 1\r\n${fields}\r\n` +
    `--b\r\nContent-Type: message/rfc822\r\n\r\n${original}Subject: Offer\r\n\r\nBuy.\r\n--b--\r\n`
  await sendMail({ port: fixture.smtpPort, envelope: { from: address, to }, raw })
}

/** How many complaints are on record for the topic, of a delivery or of all: in the transaction that ends a mail. */
const recorded = (deliveryId?: string) =>
  countRows(fixture.db, "outbox where topic = 'mail.feedback' and key = coalesce($1, key)", deliveryId ?? null)
function noteQuestion(question: unknown): void {
  if (!asked.some((other) => isDeepStrictEqual(other, question))) asked.push(question)
}
const idle = () => waitFor(async () => (await countRows(fixture.db, 'inbound')) === 0, { what: 'an empty queue' })
const waiting = () =>
  queryRows<{ attempts: number }>(
    fixture.db,
    "select attempts from inbound where kind = 'complaint' and due_at > now()",
  )
async function complaintAbout(deliveryId: string) {
  const record = await feedback.next(({ key }) => key === deliveryId, { what: 'the complaint' })
  return { type: record.type, ...JSON.parse(record.value) }
}
const returnPathOf = (deliveryId: string) => `Return-Path: <${fixture.returnPath.addressFor(deliveryId)}>\r\n`

describe('a complaint to an address that is registered with a feedback loop', () => {
  it('is about the delivery whose return path the enclosed original has', async () => {
    const id = randomUUID()
    const original = `${returnPathOf(id)}Message-ID: <offer@mail.test>\r\n`
    await complain({ original, fields: 'Original-Rcpt-To: bo@customer.test\r\n' })
    expect(await complaintAbout(id)).toMatchObject({
      type: 'complaint.reported',
      delivery_id: id,
      message_id: '<offer@mail.test>',
      peer: '127.0.0.1',
      authenticated: ['fbl.provider.test'],
      feedback_type: 'abuse',
      recipients: ['bo@customer.test'],
    })
    expect(await countRows(fixture.db, 'messages')).toBe(0)
  })

  it('is about the delivery of the return path that the report itself names', async () => {
    const id = randomUUID()
    await complain({ fields: `Original-Mail-From: <${fixture.returnPath.addressFor(id)}>\r\n` })
    expect(await complaintAbout(id)).toMatchObject({ type: 'complaint.reported' })
  })

  it('is about the deliveries of the enclosed message to the recipients that it names, and no others', async () => {
    const [first, second] = [randomUUID(), randomUUID()]
    const scope = { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID() }
    mailSend.answers['mail-send.findDeliveries'] = (request) => {
      noteQuestion(request)
      return { deliveries: [first, second].map((delivery_id) => ({ delivery_id, ...scope })) }
    }
    const fields = 'Original-Rcpt-To: bo@customer.test\r\nOriginal-Rcpt-To: <cy@customer.test>\r\n'
    await complain({ fields, original: 'Message-ID: <shared@mail.test>\r\n' })
    for (const id of [first, second]) expect(await complaintAbout(id)).toMatchObject({ type: 'complaint.reported' })
    expect(asked).toEqual([{ message_id: '<shared@mail.test>', recipients: ['bo@customer.test', 'cy@customer.test'] }])
  })

  it('changes nothing when it names neither a delivery nor a message with a recipient', async () => {
    mailSend.answers['mail-send.findDeliveries'] = (request) => {
      noteQuestion(request)
      return { deliveries: [] }
    }
    const before = await recorded()
    await complain({ original: 'Message-ID: <whose@mail.test>\r\n' })
    await complain({ fields: 'Original-Rcpt-To: bo@customer.test\r\n' })
    const forged = fixture.returnPath
      .addressFor(randomUUID())
      .replace(/^b\+./, (start) => (start === 'b+0' ? 'b+1' : 'b+0'))
    await complain({ original: `Return-Path: <${forged}>\r\n` })
    await idle()
    expect(asked).toEqual([])
    await complain({ fields: 'Original-Rcpt-To: bo@customer.test\r\n', original: 'Message-ID: <unknown@x.test>\r\n' })
    await idle()
    expect(asked).toHaveLength(1)
    expect(await recorded()).toBe(before)
  })

  it.each([
    ['is authenticated for another domain only', { from: 'stranger.test' }],
    ['is not authenticated', { from: 'nothing.test' }],
    ['is from a provider of another address', { to: OTHER.toLowerCase() }],
  ])('changes nothing when it %s', async (_why, complaint) => {
    const id = randomUUID()
    await complain({ ...complaint, original: returnPathOf(id) })
    await idle()
    expect(await recorded(id)).toBe(0)
  })

  it('is believed from each of its providers, and at each address', async () => {
    const [first, second] = [randomUUID(), randomUUID()]
    await complain({ from: 'arf.second.test', original: returnPathOf(first) })
    await complain({ from: 'arf.second.test', to: OTHER.toUpperCase(), original: returnPathOf(second) })
    for (const id of [first, second]) expect(await complaintAbout(id)).toMatchObject({ type: 'complaint.reported' })
  })

  it.each([
    ['the author of the report', 'late.provider.test', 'late.provider.test'],
    ['not its author', 'slow.provider.test', 'stranger.test'],
  ])(
    'waits while the DNS of its provider fails, who is %s, and is counted as no attempt',
    async (_who, from, author) => {
      const id = randomUUID()
      zone.fail(from)
      await complain({ from, author, original: returnPathOf(id) })
      const row = await waitFor(async () => (await waiting())[0], { what: 'the complaint to wait' })
      expect(row).toEqual({ attempts: 0 })
      zone.set(from, spf('ip4:127.0.0.1 -all'))
      expect(await complaintAbout(id)).toMatchObject({ authenticated: [from] })
    },
  )

  it('does not wait for the DNS of anybody else', async () => {
    zone.fail('mute.test')
    await complain({ from: 'mute.test', original: returnPathOf(randomUUID()) })
    await idle()
  })

  it('waits while mail-send cannot say which delivery it is about', async () => {
    const id = randomUUID()
    const scope = { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID() }
    await complain({ fields: 'Original-Rcpt-To: bo@customer.test\r\n', original: 'Message-ID: <late@mail.test>\r\n' })
    await waitFor(async () => (await waiting()).length > 0, { what: 'the complaint to wait' })
    mailSend.answers['mail-send.findDeliveries'] = () => ({ deliveries: [{ delivery_id: id, ...scope }] })
    expect(await complaintAbout(id)).toMatchObject({ message_id: '<late@mail.test>' })
  })

  it('is dropped when it is something else than a complaint, and nothing of it is stored', async () => {
    const before = await recorded()
    await sendMail({ port: fixture.smtpPort, from: 'ada@fbl.provider.test', to: REGISTERED, subject: 'Hi', text: 'Hi' })
    const raw = 'From: mailer-daemon@fbl.provider.test\r\nX-Failed-Recipients: a@b.test\r\n\r\n550 5.1.1 unknown\r\n'
    await sendMail({ port: fixture.smtpPort, envelope: { from: '', to: REGISTERED }, raw })
    await idle()
    expect(await recorded()).toBe(before)
    const unused = () => countRows(fixture.db, 'raw_mails where size > 0')
    await waitFor(async () => (await unused()) === 0, { what: 'the sweep' })
  })
})
