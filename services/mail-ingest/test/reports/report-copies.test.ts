import { randomUUID } from 'node:crypto'
import { countRows, lastingPeriod, queryRows, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { DomainOwner, newRegistration, type Switches } from '../domains/registrations.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { type FakeMailSend, startFakeMailSend } from '../peers/fake-mail-send.ts'

const DOMAIN = 'customer.test'

let fixture: Fixture
let mailSend: FakeMailSend
let owner: DomainOwner
let feedback: TopicCollection
let inbox: TestInbox
/** Whether mail-send was asked who sent the mail. */
let asked: boolean

beforeAll(async () => {
  mailSend = await startFakeMailSend()
  const own = {
    DEFAULT_DOMAIN: 'restante.test',
    INBOUND_INBOX_MAILS: '8',
    RATE_LIMIT_EXEMPT_LOOPBACK: 'false',
    ORGANIZATION_STORAGE_MB: '1',
  }
  fixture = await openFixture({ ...own, MAIL_SEND_URL: mailSend.url }, DOMAIN)
  feedback = await fixture.collect('mail.feedback')
  owner = new DomainOwner(fixture)
})
afterAll(async () => {
  await Promise.all([owner.stop(), mailSend.stop()])
  await fixture.stop()
})
beforeEach(async () => {
  inbox = await fixture.inbox()
  asked = false
  sentBy(inbox)
})
afterEach(async () => {
  await queryRows(fixture.db, 'delete from registered_domains')
})

/** Has the fake mail-send name the inbox that sent the mail of every delivery. */
function sentBy({ organization_id, pod_id, inbox_uid }: TestInbox): void {
  mailSend.answers['mail-send.findDeliveries'] = (request) => {
    asked = true
    if (!('delivery_id' in request)) throw new Error('a delivery is asked for by its id')
    return { deliveries: [{ delivery_id: request.delivery_id, organization_id, pod_id, inbox_uid }] }
  }
}
const register = (switches: Switches) => owner.set(newRegistration(DOMAIN, inbox.organization_id), switches)

function reportFor(id: string, to: string, part: string, type = 'delivery-status'): string {
  return (
    `From: mailer-daemon@far.test\r\nTo: ${to}\r\nSubject: report ${id}\r\nMessage-ID: <${id}@far.test>\r\n` +
    `MIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=${type}; boundary=b\r\n\r\n` +
    `--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n--b\r\n${part}\r\n--b--\r\n`
  )
}

async function report(part: string, type = 'delivery-status'): Promise<string> {
  const id = randomUUID()
  const to = fixture.returnPath.addressFor(id)
  const raw = reportFor(id, to, part, type)
  await sendMail({ port: fixture.smtpPort, envelope: { from: '', to }, raw })
  await feedback.next(({ key }) => key === id, { what: 'the event of the report' })
  return id
}
const status = (action: string, code: string) =>
  'Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.far.test\r\n\r\n' +
  `Final-Recipient: rfc822; gone@far.test\r\nAction: ${action}\r\nStatus: ${code}`
const FAILED = status('failed', '5.1.1')
const feedbackOf = (type: string) => `Content-Type: message/feedback-report\r\n\r\nFeedback-Type: ${type}\r\nVersion: 1`

const list = async () => (await fixture.call(inbox.caller, 'messages.list', 'GET', '/messages')).body
const idle = () => waitFor(async () => (await countRows(fixture.db, 'inbound')) === 0, { what: 'an empty queue' })

describe('a report about mail of an inbox on a domain with feedback', () => {
  it.each([
    ['bounce', () => report(FAILED)],
    ['complaint', () => report(feedbackOf('abuse'), 'feedback-report')],
  ])('that is a %s is also received by the inbox, as it arrived', async (_what, arrive) => {
    await register({ feedback_enabled: true })
    const id = await arrive()
    const { messages } = await waitFor(async () => ((await list()).count > 0 ? list() : undefined), {
      what: 'the copy',
    })
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatchObject({
      message_id: `<${id}@far.test>`,
      subject: `report ${id}`,
      labels: expect.arrayContaining(['received', 'unread']),
    })
    const [row] = await queryRows<{ blob: string; trace: string }>(
      fixture.db,
      'select blob, trace from messages where inbox_uid = $1',
      inbox.inbox_uid,
    )
    expect(row?.trace).toContain(`Delivered-To: ${inbox.address}\r\n`)
    expect(await countRows(fixture.db, 'raw_mails where blob = $1 and refs = 1', row?.blob ?? '')).toBe(1)
  })

  it.each([
    ['is about a delay', { feedback_enabled: true }, () => report(status('delayed', '4.4.1'))],
    [
      'says that a mail is no spam',
      { feedback_enabled: true },
      () => report(feedbackOf('not-spam'), 'feedback-report'),
    ],
    ['comes while feedback is off', { feedback_enabled: false }, () => report(FAILED)],
  ])('is an event only when it %s', async (_when, switches, arrive) => {
    await register(switches)
    await arrive()
    await idle()
    expect((await list()).count).toBe(0)
  })

  it('is an event only after the domain was deleted', async () => {
    const domain = newRegistration(DOMAIN, inbox.organization_id)
    await owner.set(domain)
    await owner.delete(domain)
    await report(FAILED)
    await idle()
    expect((await list()).count).toBe(0)
  })

  it('is an event only while the inbox is paused, and for a deleted one', async () => {
    await register({ feedback_enabled: true })
    await fixture.setStatus(inbox, 'paused')
    await report(FAILED)
    await idle()
    expect((await list()).count).toBe(0)
    await fixture.deleteInbox(inbox)
    await report(FAILED)
    await idle()
    expect(await countRows(fixture.db, 'messages where inbox_uid = $1', inbox.inbox_uid)).toBe(0)
  })

  it('fills the inbox no further than other mail from the same network could', async () => {
    await lastingPeriod(3_600_000)
    await register({ feedback_enabled: true })
    for (let sent = 0; sent < 4; sent++) await report(FAILED)
    await idle()
    expect((await list()).count).toBe(2)
  })

  it('fills the storage of the organization no further than its quota, however quickly they come', async () => {
    await register({ feedback_enabled: true })
    const large = `${FAILED}\r\n--b\r\nContent-Type: text/plain\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(600)}`
    await report(large)
    await report(large)
    await idle()
    expect((await list()).count).toBe(1)
  })
})

describe('a report about mail of an inbox on the shared domain', () => {
  it.each([
    ['where copies are on', {}, 1],
    ['not where the configuration says so', { FEEDBACK_COPIES: 'false' }, 0],
  ])('is also received by the inbox %s', async (_when, variables, copies) => {
    const own = await openFixture({ FEEDBACK_COPIES: 'true', MAIL_SEND_URL: mailSend.url, ...variables })
    try {
      const events = await own.collect('mail.feedback')
      const sender = await own.inbox()
      sentBy(sender)
      const id = randomUUID()
      const to = own.returnPath.addressFor(id)
      await sendMail({ port: own.smtpPort, envelope: { from: '', to }, raw: reportFor(id, to, FAILED) })
      await events.next(({ key }) => key === id, { what: 'the event of the report' })
      await waitFor(async () => (await countRows(own.db, 'inbound')) === 0, { what: 'an empty queue' })
      expect((await own.call(sender.caller, 'messages.list', 'GET', '/messages')).body.count).toBe(copies)
    } finally {
      await own.stop()
    }
  })
})

describe('a report to an installation without such domains', () => {
  it('costs no question to mail-send', async () => {
    await report(FAILED)
    await idle()
    expect(asked).toBe(false)
    await register({ feedback_enabled: false })
    await report(FAILED)
    await idle()
    expect(asked).toBe(false)
  })
})
