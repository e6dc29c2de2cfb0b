import { randomUUID } from 'node:crypto'
import { type CollectedRecord, countRows, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'

let fixture: Fixture
let feedback: TopicCollection

beforeAll(async () => {
  fixture = await openFixture()
  feedback = await fixture.collect('mail.feedback')
})
afterAll(() => fixture.stop())

async function deliver(to: string, type: string, ...parts: string[]): Promise<void> {
  const head = `From: mailer-daemon@customer.test\r\nTo: ${to}\r\nSubject: report\r\nMIME-Version: 1.0\r\n`
  const body = parts.map((part) => `--b\r\n${part}\r\n`).join('')
  const raw = `${head}Content-Type: multipart/report; report-type=${type}; boundary=b\r\n\r\n${body}--b--\r\n`
  await sendMail({ port: fixture.smtpPort, envelope: { from: '', to }, raw })
}

const isAbout = (deliveryId: string) => (record: CollectedRecord) => record.key === deliveryId
/** How many reports are on record for the topic: in the transaction that ends a mail. */
const recorded = (...deliveryIds: string[]) =>
  countRows(fixture.db, "outbox where topic = 'mail.feedback' and key = any($1)", deliveryIds)
const idle = () => waitFor(async () => (await countRows(fixture.db, 'inbound')) === 0, { what: 'an empty queue' })

describe('a mail to a return path', () => {
  it('is passed on as a bounce report that names the delivery', async () => {
    const id = randomUUID()
    await deliver(
      fixture.returnPath.addressFor(id),
      'delivery-status',
      'Content-Type: text/plain\r\n\r\nSorry.',
      'Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.customer.test\r\n\r\n' +
        'Final-Recipient: rfc822; gone@customer.test\r\nAction: failed\r\nStatus: 5.1.1\r\n' +
        'Diagnostic-Code: smtp; 550 5.1.1 no such user',
      'Content-Type: text/rfc822-headers\r\n\r\nMessage-ID: <original@mail.test>\r\nSubject: Offer',
    )
    const record = await feedback.next(isAbout(id), { what: 'the report' })
    expect(record.type).toBe('bounce.reported')
    expect(JSON.parse(record.value)).toMatchObject({
      delivery_id: id,
      message_id: '<original@mail.test>',
      peer: '127.0.0.1',
      recipients: [{ address: 'gone@customer.test', action: 'failed', status: '5.1.1' }],
    })
  })

  it('is passed on as a complaint', async () => {
    const id = randomUUID()
    await deliver(
      fixture.returnPath.addressFor(id),
      'feedback-report',
      'Content-Type: text/plain\r\n\r\nThis is an abuse report.',
      'Content-Type: message/feedback-report\r\n\r\nFeedback-Type: abuse\r\nUser-Agent: x/1\r\nVersion: 1\r\n' +
        'Original-Rcpt-To: bo@customer.test',
      'Content-Type: message/rfc822\r\n\r\nMessage-ID: <original@mail.test>\r\n\r\nOffer',
    )
    const record = await feedback.next(isAbout(id), { what: 'the report' })
    expect(record.type).toBe('complaint.reported')
    expect(JSON.parse(record.value)).toMatchObject({
      feedback_type: 'abuse',
      recipients: ['bo@customer.test'],
      peer: '127.0.0.1',
    })
  })

  it.each([
    ['a mail system, in words', '', 'failure notice', 'Hi. This is the qmail-send program.\r\n550 5.1.1 no such user'],
    ['a postmaster', 'postmaster@far.test', 'Undeliverable: Offer', '550 5.1.1 no such user'],
  ])('is passed on as a failure when it comes from %s', async (_name, from, subject, text) => {
    const id = randomUUID()
    const to = fixture.returnPath.addressFor(id)
    const raw = `From: MAILER-DAEMON@far.test\r\nTo: ${to}\r\nSubject: ${subject}\r\n\r\n${text}\r\n`
    await sendMail({ port: fixture.smtpPort, envelope: { from, to }, raw })
    const record = await feedback.next(isAbout(id), { what: 'the report' })
    expect(JSON.parse(record.value)).toMatchObject({ recipients: [{ action: 'failed', status: '5.1.1' }] })
  })

  it('has the reason that is in its words where its header only names the recipient', async () => {
    const id = randomUUID()
    const to = fixture.returnPath.addressFor(id)
    const raw =
      `From: mailer-daemon@far.test\r\nTo: ${to}\r\nSubject: Mail delivery failed\r\nX-Failed-Recipients: bo@far.test\r\n` +
      'Auto-Submitted: auto-replied\r\n\r\nA message that you sent could not be delivered.\r\n  550 5.1.1 no such user\r\n'
    await sendMail({ port: fixture.smtpPort, envelope: { from: '', to }, raw })
    const record = await feedback.next(isAbout(id), { what: 'the report' })
    const [recipient] = JSON.parse(record.value).recipients
    expect(recipient).toEqual({
      address: 'bo@far.test',
      action: 'failed',
      status: '5.1.1',
      diagnostic: '550 5.1.1 no such user',
    })
  })

  it('is dropped when a person writes in the words of a mail system, or a mail system that somebody is absent', async () => {
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()]
    const mail = { port: fixture.smtpPort, text: 'Hi. This is the qmail-send program.' }
    await sendMail({
      ...mail,
      from: 'ada@customer.test',
      to: fixture.returnPath.addressFor(first),
      subject: 'failure notice',
    })
    const to = fixture.returnPath.addressFor(second)
    const raw = `From: ada@customer.test\r\nTo: ${to}\r\nAuto-Submitted: auto-replied\r\nSubject: Away\r\n\r\nUntil Monday.\r\n`
    await sendMail({ port: fixture.smtpPort, envelope: { from: '', to }, raw })
    const answered = raw
      .replaceAll(to, fixture.returnPath.addressFor(third))
      .replace('Away', 'Automatic reply: Undelivered parcel')
    await sendMail({
      port: fixture.smtpPort,
      envelope: { from: '', to: fixture.returnPath.addressFor(third) },
      raw: answered,
    })
    await idle()
    expect(await recorded(first, second, third)).toBe(0)
  })

  it('is dropped when it is not a report, and nothing of it is stored', async () => {
    const id = randomUUID()
    const to = fixture.returnPath.addressFor(id)
    await sendMail({
      port: fixture.smtpPort,
      from: 'ada@customer.test',
      to,
      subject: 'I am away',
      text: 'until Monday',
    })
    await idle()
    expect(await recorded(id)).toBe(0)
    const unused = () => countRows(fixture.db, 'raw_mails where size > 0')
    await waitFor(async () => (await unused()) === 0, { what: 'the sweep' })
  })
})
