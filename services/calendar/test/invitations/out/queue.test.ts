import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Caller } from '@restante/contracts/access'
import { type InternalRequestOf, internalOperations } from '@restante/contracts/internal'
import type { Attendee } from '@restante/contracts/resources'
import { Timers } from '@restante/jobs'
import { ApiError, UpstreamError } from '@restante/service/errors'
import { ServiceClient } from '@restante/service/http'
import { createLogger } from '@restante/service/telemetry'
import { callerOf, countRows, freePort, openRedis, queryRows, type TestRedis, waitFor } from '@restante/testkit'
import { Invitations, mailsFor } from '../../../src/invitations/out/index.ts'
import type { EventRow, EventState } from '../../../src/model/rows.ts'
import type { CalendarTimers } from '../../../src/timers/kinds.ts'
import { CalendarRows, testInbox } from '../../reading/rows.ts'

type Sent = InternalRequestOf<'mail-send.sendInvitation'>

/** mail-send on loopback, as far as calendars call it. */
class MailSend {
  readonly sent: Sent[] = []
  readonly charged: InternalRequestOf<'mail-send.chargeInvitations'>[] = []
  answer: (mail: Sent) => object | number = () => ({
    outcome: 'sent',
    message_id: `<${randomUUID()}@example.com>`,
    thread_id: randomUUID(),
  })
  charge: object | number = { outcome: 'charged' }
  /** Of a release that has none of the operations. */
  isEarlier = false
  url = ''
  readonly #server: Server = createServer(async (request, response) => {
    const body: unknown = await json(request)
    const answer = this.#answer(request.url, body)
    response.statusCode = typeof answer === 'number' ? answer : 200
    response.setHeader('content-type', 'application/json')
    const isUnknown = this.isEarlier
    if (isUnknown) response.statusCode = 404
    const refusal = isUnknown ? { code: 'not_found', message: 'Route not found' } : { code: 'not_found' }
    response.end(JSON.stringify(typeof answer === 'number' || isUnknown ? refusal : answer))
  })

  async start(): Promise<this> {
    const port = await freePort()
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${port}`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #answer(url: string | undefined, body: unknown): object | number {
    const charge = internalOperations['mail-send.chargeInvitations']
    if (url === charge.path) {
      this.charged.push(charge.body.parse(body))
      return this.charge
    }
    const mail = internalOperations['mail-send.sendInvitation'].body.parse(body)
    this.sent.push(mail)
    return this.answer(mail)
  }
}

let rows: CalendarRows
let redis: TestRedis
let mailSend: MailSend
let timers: Timers<CalendarTimers>
let invitations: Invitations
let client: ServiceClient<'calendar'>

beforeAll(async () => {
  const log = createLogger({ service: 'test', level: 'silent' })
  rows = await CalendarRows.create()
  redis = openRedis()
  mailSend = await new MailSend().start()
  timers = new Timers<CalendarTimers>({ db: rows.db, redis, log })
  client = new ServiceClient({ from: 'calendar', to: 'mail-send', url: mailSend.url, key: 'key of the tests' })
  invitations = new Invitations({ db: rows.db, timers, mailSend: client, log })
  invitations.register(timers)
  await timers.start()
})
afterAll(async () => {
  await timers.stop()
  await client.stop()
  await mailSend.stop()
  await redis.close()
  await rows.stop()
})

const attendee = (email = `ann-${randomUUID()}@example.org`): Attendee => ({
  email,
  status: 'needs_action',
  role: 'required',
})

const stateOf = (event: EventRow): EventState => ({ event, edits: [], begun: [], cancelled: [], responses: [] })

async function meeting(attendees: readonly Attendee[]) {
  const inbox = testInbox()
  const event = await rows.event(inbox, { start: '2027-03-02T09:00:00', title: 'Review', attendees })
  return { event, address: inbox.address }
}

/** Queues the mails of an event as it is, after a change. */
async function announce(address: string, event: EventRow, before?: EventRow): Promise<void> {
  const change = { kind: 'event', after: stateOf(event), address, at: new Date() } as const
  const mails = mailsFor(before ? { ...change, before: stateOf(before) } : change)
  await rows.db.transaction((tx) => invitations.queue(tx, mails, 0))
}

const sentTo = (email: string, count: number): Promise<Sent[]> =>
  waitFor(
    () => {
      const found = mailSend.sent.filter(({ to }) => to === email)
      return found.length >= count ? found : undefined
    },
    { what: `${count} mails` },
  )

const waiting = ({ id }: EventRow) => countRows(rows.db, 'outgoing_mails where event_id = $1', id)

describe('queued mails', () => {
  it('are handed to mail-send, one for each attendee, and forgotten', async () => {
    const [ann, bob] = [attendee(), attendee()]
    const { event, address } = await meeting([ann, bob])
    await announce(address, event)
    const [[first], [second]] = await Promise.all([sentTo(ann.email, 1), sentTo(bob.email, 1)])
    expect(first).toMatchObject({ subject: 'Invitation: Review', method: 'REQUEST', inbox_uid: event.inbox_uid })
    expect(first?.calendar).toBe(second?.calendar)
    await waitFor(async () => (await waiting(event)) === 0, { what: 'no mail that waits' })
    const invited = await queryRows(rows.db, 'select email, message_id from invited where event_id = $1', event.id)
    expect(invited).toContainEqual({ email: ann.email, message_id: `<${first?.id}@example.com>` })
  })

  it('of changes answer the first invitation of their attendee, in their order', async () => {
    const [ann, bob] = [attendee(), attendee()]
    const { event, address } = await meeting([ann])
    await announce(address, event)
    const changed = { ...event, sequence: 1, attendees: [ann, bob] }
    await announce(address, changed, event)
    await announce(address, { ...changed, sequence: 2, attendees: [bob] }, changed)
    const [invitation, update, removal] = await sentTo(ann.email, 3)
    expect([invitation?.subject, update?.subject, removal?.subject]).toEqual([
      'Invitation: Review',
      'Updated invitation: Review',
      'Canceled: Review',
    ])
    const id = `<${invitation?.id}@example.com>`
    expect([invitation?.in_reply_to, update?.in_reply_to, removal?.in_reply_to]).toEqual([undefined, id, id])
    expect((await sentTo(bob.email, 2)).map(({ subject }) => subject)).toEqual([
      'Invitation: Review',
      'Updated invitation: Review',
    ])
  })

  it('of a removal go to nobody who was not invited', async () => {
    const [ann, bob] = [attendee(), attendee()]
    const { event, address } = await meeting([ann, bob])
    await announce(address, { ...event, attendees: [bob] }, event)
    await sentTo(bob.email, 1)
    expect(mailSend.sent.filter(({ to }) => to === ann.email)).toEqual([])
  })

  it('are repeated with their id while mail-send does not answer', async () => {
    const ann = attendee()
    const { event, address } = await meeting([ann])
    const works = mailSend.answer
    let failures = 2
    mailSend.answer = (mail) => (mail.to === ann.email && failures-- > 0 ? 503 : works(mail))
    await announce(address, event)
    const [first, second, third] = await sentTo(ann.email, 3)
    expect([second?.id, third?.id]).toEqual([first?.id, first?.id])
    await waitFor(async () => (await waiting(event)) === 0, { what: 'no mail that waits' })
    expect(mailSend.sent.filter(({ to }) => to === ann.email)).toHaveLength(3)
    mailSend.answer = works
  })

  it('that are refused are forgotten, and not repeated', async () => {
    const [ann, bob] = [attendee(), attendee()]
    const { event, address } = await meeting([ann, bob])
    const works = mailSend.answer
    mailSend.answer = ({ to }) => (to === ann.email ? { outcome: 'refused', reason: 'message_rejected' } : 400)
    await announce(address, event)
    await waitFor(async () => (await waiting(event)) === 0, { what: 'no mail that waits' })
    expect(mailSend.sent.filter(({ to }) => to === ann.email || to === bob.email)).toHaveLength(2)
    mailSend.answer = works
  })

  it('after a refused invitation are the first one, and tell nobody of a removal who was never invited', async () => {
    const [ann, bob] = [attendee(), attendee()]
    const { event, address } = await meeting([ann, bob])
    const works = mailSend.answer
    const isRefused = new Set([ann.email, bob.email])
    mailSend.answer = (mail) => (isRefused.delete(mail.to) ? { outcome: 'refused', reason: 'blocked' } : works(mail))
    await rows.db.transaction(async (tx) => {
      const told = { address, at: new Date() }
      const [first, second, third] = [event, { ...event, sequence: 1, attendees: [ann] }, { ...event, sequence: 2 }]
      const states = [stateOf(first), stateOf(second), stateOf({ ...third, attendees: [ann] })] as const
      await invitations.queue(tx, mailsFor({ kind: 'event', after: states[0], ...told }), 0)
      await invitations.queue(tx, mailsFor({ kind: 'event', before: states[0], after: states[1], ...told }), 0)
      await invitations.queue(tx, mailsFor({ kind: 'event', before: states[1], after: states[2], ...told }), 0)
    })
    const [refused, invitation, update] = await sentTo(ann.email, 3)
    expect([refused, invitation, update].map((mail) => mail?.subject)).toEqual([
      'Invitation: Review',
      'Invitation: Review',
      'Updated invitation: Review',
    ])
    const id = `<${invitation?.id}@example.com>`
    expect([invitation?.in_reply_to, update?.in_reply_to]).toEqual([undefined, id])
    await waitFor(async () => (await waiting(event)) === 0, { what: 'no mail that waits' })
    expect(mailSend.sent.filter(({ to }) => to === bob.email)).toHaveLength(1)
    const invited = await queryRows(rows.db, 'select email, message_id from invited where event_id = $1', event.id)
    expect(invited).toEqual([{ email: ann.email, message_id: id }])
    mailSend.answer = works
  })

  it('that were given up have invited nobody', async () => {
    const ann = attendee()
    const { event, address } = await meeting([ann])
    const works = mailSend.answer
    mailSend.answer = () => 400
    await announce(address, event)
    await waitFor(async () => (await waiting(event)) === 0, { what: 'no mail that waits' })
    mailSend.answer = works
    await announce(address, { ...event, sequence: 1 }, event)
    const [, second] = await sentTo(ann.email, 2)
    expect([second?.subject, second?.in_reply_to]).toEqual(['Invitation: Review', undefined])
  })

  it('wait for a mail-send that can send them', async () => {
    const ann = attendee()
    const { event, address } = await meeting([ann])
    mailSend.isEarlier = true
    await announce(address, event)
    await sentTo(ann.email, 1)
    mailSend.isEarlier = false
    const [first, second] = await sentTo(ann.email, 2)
    expect(second?.id).toBe(first?.id)
    await waitFor(async () => (await waiting(event)) === 0, { what: 'no mail that waits' })
  })

  it('have subjects that fit into a line', async () => {
    const ann = attendee()
    const { event, address } = await meeting([ann])
    await announce(address, { ...event, title: 'x'.repeat(1_000) })
    const [mail] = await sentTo(ann.email, 1)
    expect(mail?.subject).toMatch(/^Invitation: x+…$/)
    expect(mail?.subject.length).toBeLessThanOrEqual(989)
  })
})

describe('a charge', () => {
  const inbox = { uid: randomUUID(), address: 'desk@example.com', pod_id: randomUUID(), paused: false }
  const caller = (more: Partial<Caller> = {}): Caller => callerOf({ inbox, ...more })

  it('counts recipients, and nothing where no mail leaves', async () => {
    const id = randomUUID()
    await invitations.charge(caller(), id, ['ann@example.org'])
    expect(mailSend.charged.at(-1)).toMatchObject({ id, recipients: ['ann@example.org'] })
    const before = mailSend.charged.length
    await invitations.charge(caller(), randomUUID(), [])
    await invitations.charge(caller({ sending: 'suspended' }), randomUUID(), ['ann@example.org'])
    await invitations.charge(caller({ inbox: { ...inbox, paused: true } }), randomUUID(), ['ann@example.org'])
    expect(mailSend.charged).toHaveLength(before)
  })

  it('is refused beyond a limit, and without its inbox', async () => {
    const refusal = async () => {
      try {
        await invitations.charge(caller(), randomUUID(), ['ann@example.org'])
        return undefined
      } catch (error) {
        return error instanceof ApiError ? { ...error.body(''), ...error.headers() } : error
      }
    }
    const details = { resource: 'recipients', limit: 5, window: 'day' }
    mailSend.charge = { outcome: 'limited', message: 'Too many', retry_after: 60, details }
    expect(await refusal()).toMatchObject({
      code: 'rate_limit_exceeded',
      message: 'Too many',
      'retry-after': '60',
      ...details,
    })
    mailSend.charge = 404
    expect(await refusal()).toMatchObject({ code: 'calendar_inbox_required' })
    mailSend.charge = { outcome: 'charged' }
    mailSend.isEarlier = true
    expect(await refusal()).toBeInstanceOf(UpstreamError)
    mailSend.isEarlier = false
  })
})
