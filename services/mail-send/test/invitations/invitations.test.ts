import { randomUUID } from 'node:crypto'
import { countRows, lastingPeriod } from '@restante/testkit'
import { type Answer, DOMAIN, type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'

type SendingCaller = ReturnType<typeof inboxCaller>

let fixture: Fixture
const callers = new Map<string, SendingCaller>()

beforeAll(async () => {
  fixture = await startWorld({ SEND_LIMIT_INBOX: '5/1d', NEW_RECIPIENT_RAMP: '3/1h' })
  fixture.peers.answers = {
    'mail-ingest.placeSent': async () => ({}),
    'mail-ingest.getReplySource': async () => ({}),
    'gateway.getSendingInbox': async ({ inbox_uid }) => {
      const caller = callers.get(inbox_uid)
      if (!caller) return {}
      const { organization_id, inbox, sending, unverified, verified_at, take_overs = 0 } = caller
      return {
        sender: { organization_id, inbox, sending, unverified, take_overs, ...(verified_at && { verified_at }) },
      }
    },
  }
})
afterAll(() => fixture.stop())

/** A caller whose inbox the gateway knows. */
function known(overrides: Parameters<typeof inboxCaller>[0] = {}): SendingCaller {
  const caller = inboxCaller(overrides)
  callers.set(caller.inbox.uid, caller)
  return caller
}

const someone = (): string => `ann-${randomUUID().slice(0, 8)}@outside.example`
const people = (count: number): string[] => Array.from({ length: count }, someone)

function charge(caller: SendingCaller, recipients: string[], id: string = randomUUID()): Promise<Answer> {
  return fixture.internal('mail-send.chargeInvitations', 'calendar', { id, caller, recipients })
}

const OBJECT = 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nSUMMARY:Besprechung über Größen = alles\r\nEND:VCALENDAR\r\n'

function invitation(caller: SendingCaller, more: Record<string, unknown> = {}) {
  return {
    id: randomUUID(),
    inbox_uid: caller.inbox.uid,
    to: someone(),
    subject: 'Invitation: Besprechung',
    text: 'Besprechung\nWhen: tomorrow\n',
    method: 'REQUEST',
    calendar: OBJECT,
    ...more,
  }
}

function send(body: Record<string, unknown>): Promise<Answer> {
  return fixture.internal('mail-send.sendInvitation', 'calendar', body)
}

describe('mail-send.chargeInvitations', () => {
  beforeEach(() => lastingPeriod(3_600_000))

  it('200: counts every invitation as a send, and a repeated id once', async () => {
    const caller = known()
    const [id, recipients] = [randomUUID(), people(3)]
    const answers = await Promise.all(Array.from({ length: 5 }, () => charge(caller, recipients, id)))
    expect(answers.map(({ body }) => body)).toEqual(Array(5).fill({ outcome: 'charged' }))
    expect((await charge(caller, people(2))).body).toEqual({ outcome: 'charged' })
    const answer = await charge(caller, people(1))
    expect(answer).toMatchObject({
      status: 200,
      body: { outcome: 'limited', details: { resource: 'recipients', limit: 5, window: 'day' } },
    })
    expect(answer.body.message).toBe('Send limit exceeded: 5 recipients per day for one inbox')
    expect(answer.body.retry_after).toBeGreaterThan(0)
    // The same limit as that of messages.
    const message = { path: '/messages/send', body: { to: people(1), text: 'x' } }
    expect((await fixture.call('messages.send', caller, message)).status).toBe(429)
  })

  it('200: counts all of them or none, and a refused id is counted when it fits', async () => {
    const caller = known()
    const id = randomUUID()
    expect((await charge(caller, people(6), id)).body).toMatchObject({ outcome: 'limited' })
    expect(await countRows(fixture.db, 'send_counts where scope_id = $1 and recipients > 0', caller.inbox.uid)).toBe(0)
    expect((await charge(caller, people(5), id)).body).toEqual({ outcome: 'charged' })
  })

  it('200: counts whoever has joined when an id is repeated, and nobody twice', async () => {
    const caller = known()
    const [id, recipients] = [randomUUID(), people(4)]
    expect((await charge(caller, recipients.slice(0, 3), id)).body).toEqual({ outcome: 'charged' })
    expect((await charge(caller, recipients, id)).body).toEqual({ outcome: 'charged' })
    expect((await charge(caller, people(2))).body).toMatchObject({ outcome: 'limited' })
    expect((await charge(caller, people(1))).body).toEqual({ outcome: 'charged' })
    expect((await charge(caller, [...recipients].reverse(), id)).body).toEqual({ outcome: 'charged' })
  })

  it('404: for an inbox that was deleted meanwhile', async () => {
    const caller = known()
    const { organization_id, inbox } = caller
    await fixture.internal('mail-send.purgeInbox', 'gateway', {
      organization_id,
      pod_id: inbox.pod_id,
      inbox_uid: inbox.uid,
      address: inbox.address,
      deleted_at: new Date().toISOString(),
    })
    expect((await charge(caller, people(1))).status).toBe(404)
  })

  it('401: is for calendars alone', async () => {
    const body = { id: randomUUID(), caller: known(), recipients: people(1) }
    expect((await fixture.internal('mail-send.chargeInvitations', 'mail-ingest', body)).status).toBe(401)
  })
})

describe('mail-send.sendInvitation', () => {
  it('200: mails the object as a form of the text and as a file, once per id', async () => {
    const caller = known()
    const body = invitation(caller, { to_name: 'Ann, "the" Boss' })
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(body)))
    const { outcome, message_id, thread_id } = answers[0]?.body ?? {}
    expect([outcome, message_id]).toEqual(['sent', `<${body.id}@${DOMAIN}>`])
    expect(answers.map((answer) => answer.body)).toEqual(Array(4).fill({ outcome, message_id, thread_id }))
    const { parsed, raw } = await fixture.outside.next(body.to)
    expect(parsed.subject).toBe('Invitation: Besprechung')
    expect(parsed.from?.value[0]).toEqual({ name: 'The Desk', address: caller.inbox.address })
    expect(parsed.text).toContain('When: tomorrow')
    const shape = raw.toString().match(/^Content-Type: [^\r\n]+(\r\n [^\r\n]+)*/gm)
    expect(shape?.map((line) => line.replace(/;?\s*boundary=.*/s, ''))).toEqual([
      'Content-Type: multipart/mixed',
      'Content-Type: multipart/alternative',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Type: text/calendar; charset=utf-8; method=REQUEST',
      'Content-Type: application/ics; name=invite.ics',
    ])
    expect(parsed.attachments.map(({ content }) => content.toString())).toContain(OBJECT)
    expect(fixture.outside.mailsTo(body.to)).toHaveLength(1)
    expect(await countRows(fixture.db, 'sends where message_id = $1', message_id)).toBe(1)
    expect(await countRows(fixture.db, 'send_counts where scope_id = $1', caller.inbox.uid)).toBe(0)
  })

  it('200: places the copy among the sent messages', async () => {
    const body = invitation(known())
    await send(body)
    const placed = fixture.peers.requests('mail-ingest.placeSent').filter(({ to }) => to.includes(body.to))
    expect(placed).toMatchObject([
      { message_id: `<${body.id}@${DOMAIN}>`, subject: body.subject, labels: [], extracted_text: body.text },
    ])
  })

  it('200: answers the mail that it belongs to, in its thread', async () => {
    const caller = known()
    const source = {
      message_id: `<${randomUUID()}@${DOMAIN}>`,
      thread_id: randomUUID(),
      from: caller.inbox.address,
      author: caller.inbox.address,
      to: [],
      references: ['<first@outside.example>'],
      timestamp: new Date().toISOString(),
      sent: true,
      attachments: [],
    }
    fixture.peers.answers['mail-ingest.getReplySource'] = async ({ message_id }) =>
      message_id === source.message_id ? { source } : {}
    const body = invitation(caller, { in_reply_to: source.message_id, method: 'CANCEL' })
    expect((await send(body)).body).toMatchObject({ outcome: 'sent', thread_id: source.thread_id })
    const { parsed } = await fixture.outside.next(body.to)
    expect(parsed.inReplyTo).toBe(source.message_id)
    expect(parsed.references).toEqual(['<first@outside.example>', source.message_id])
    const other = invitation(caller, { in_reply_to: '<gone@outside.example>' })
    expect((await send(other)).body.outcome).toBe('sent')
    expect((await fixture.outside.next(other.to)).parsed.inReplyTo).toBe('<gone@outside.example>')
  })

  it('200: refuses for good what the normal send path refuses', async () => {
    const caller = known()
    const blocked = someone()
    await fixture.call('lists.create', caller, {
      path: '/lists/send/block',
      body: { entry: blocked },
    })
    const paused = inboxCaller()
    const refusals = [
      [invitation(caller, { to: blocked }), 'message_rejected'],
      [invitation(caller, { to: caller.inbox.address }), 'message_rejected'],
      [invitation(caller, { to: 'nobody' }), 'message_rejected'],
      [invitation(known({ sending: 'suspended' })), 'message_rejected'],
      [invitation(known({ sending: 'none' })), 'message_rejected'],
      [invitation(known({ inbox: { ...paused.inbox, paused: true } })), 'inbox_paused'],
      [invitation(inboxCaller()), 'inbox_deleted'],
    ] as const
    for (const [body, reason] of refusals) expect((await send(body)).body).toEqual({ outcome: 'refused', reason })
    expect(fixture.outside.mailsTo(blocked)).toHaveLength(0)
  })

  it('200: refuses people never written to before beyond the number after verification', async () => {
    const caller = known({ verified_at: new Date(Date.now() - 60_000).toISOString() })
    const outcomes: unknown[] = []
    for (const to of people(4)) outcomes.push((await send(invitation(caller, { to }))).body)
    expect(outcomes.map((body) => (body as { outcome?: unknown }).outcome)).toEqual(['sent', 'sent', 'sent', 'refused'])
    expect(outcomes[3]).toEqual({ outcome: 'refused', reason: 'rate_limit_exceeded' })
    expect(await countRows(fixture.db, 'recipient_ramps where organization_id = $1', caller.organization_id)).toBe(1)
  })

  it('5xx: says nothing while the gateway does not answer', async () => {
    const answers = fixture.peers.answers['gateway.getSendingInbox']
    delete fixture.peers.answers['gateway.getSendingInbox']
    expect((await send(invitation(known()))).status).toBeGreaterThanOrEqual(500)
    if (answers) fixture.peers.answers['gateway.getSendingInbox'] = answers
  })
})
