import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { Caller } from '@restante/contracts/access'
import { lastingPeriod } from '@restante/testkit'
import { type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'
import { listenOn } from '../support/listen.ts'

const HUMAN = 'human@outside.example'
const SOURCE = `<${randomUUID()}@outside.example>`
/** Answering all of it would exceed the recipients that a message may have. */
const CROWDED = `<${randomUUID()}@outside.example>`
const GONE = `<${randomUUID()}@gone.example>`

type SendingCaller = ReturnType<typeof inboxCaller>

interface Request {
  readonly caller: SendingCaller
  readonly message: string
  readonly key: string
  readonly body: unknown
}

/** One defect of a reply, in addition to all defects of the later entries. */
interface Fault {
  readonly step: string
  readonly of: Partial<Request>
  readonly answer: object
}

const refused = (status: number, code: string, message?: unknown): object => ({
  status,
  body: { code, ...(message !== undefined && { message }) },
})

describe('when several checks of a send fail, the response is that of the first', () => {
  let fixture: Fixture
  const agent = inboxCaller({ unverified: true, sending: `only:${HUMAN}` })
  /** The same organization and inbox under other conditions. */
  const circumstances = (more: Partial<Caller>, inbox: Partial<SendingCaller['inbox']> = {}): SendingCaller => ({
    ...agent,
    ...more,
    inbox: { ...agent.inbox, ...inbox },
  })

  beforeAll(async () => {
    fixture = await startWorld()
    fixture.peers.answers = {
      'mail-ingest.placeSent': async () => ({}),
      'mail-ingest.getReplySource': async ({ message_id }) =>
        message_id === GONE ? {} : { source: source(message_id) },
    }
  })
  afterAll(() => fixture.stop())

  const crowd = Array.from({ length: 51 }, (_, index) => `to-${index}@outside.example`)
  const source = (message_id: string) => ({
    message_id,
    thread_id: randomUUID(),
    sent: false,
    timestamp: '2026-08-24T14:46:00.000Z',
    from: HUMAN,
    author: HUMAN,
    to: message_id === CROWDED ? crowd : [agent.inbox.address],
    cc: [],
    subject: 'Lunch',
    references: [],
    attachments: [],
  })

  const reply = ({ caller, message, key, body }: Request) =>
    fixture.call('messages.reply', caller, { path: `/messages/${encodeURIComponent(message)}/reply`, body, key })

  it('a reply', async () => {
    const files = createServer((_request, response) => response.writeHead(404).end())
    const port = await listenOn(files)
    await lastingPeriod(86_400_000)
    const answered = { caller: agent, message: SOURCE, key: randomUUID(), body: { text: 'The first of ten' } }
    expect(await reply(answered)).toMatchObject({ status: 200 })
    // Nine more: the quota of the day is used up.
    for (let mail = 2; mail <= 10; mail++) await reply({ ...answered, key: randomUUID() })

    const paused = circumstances({ sending: 'suspended' }, { paused: true, address: 'desk@not-ours.example' })
    const suspended = circumstances({ sending: 'suspended' }, { address: 'desk@not-ours.example' })
    const elsewhere = circumstances({}, { address: 'desk@not-ours.example' })
    const unlimited = circumstances({ unverified: false, sending: 'ok' })
    const file = { url: `http://127.0.0.1:${port}/` }
    const everything = { track_opens: true, to: ['outsider@outside.example'], attachments: [file] }
    const faults: Fault[] = [
      {
        step: 'JSON',
        of: { body: '{"text":', key: 'not a key' },
        answer: { status: 400, body: { name: 'SyntaxError' } },
      },
      {
        step: 'schema and header',
        of: { body: { text: 7 }, key: 'not a key' },
        answer: {
          status: 400,
          body: { errors: [{ path: ['headers', 'idempotency-key'] }, { path: ['text'] }] },
        },
      },
      { step: 'key used otherwise', of: { body: { text: 'x' }, key: answered.key }, answer: refused(409, 'conflict') },
      {
        step: 'source',
        of: { message: GONE, key: randomUUID() },
        answer: refused(404, 'not_found', 'Message not found'),
      },
      { step: 'paused', of: { caller: paused }, answer: refused(403, 'inbox_paused') },
      {
        step: 'suspended',
        of: { caller: suspended },
        answer: refused(403, 'message_rejected', expect.stringContaining('suspended')),
      },
      {
        step: 'recipients',
        of: { caller: elsewhere, message: CROWDED, body: { reply_all: true, track_opens: true, attachments: [file] } },
        answer: refused(400, 'validation_error'),
      },
      { step: 'domain', of: { caller: elsewhere, body: everything }, answer: refused(403, 'domain_not_verified') },
      { step: 'tracking', of: { caller: agent, body: everything }, answer: refused(422, 'unprocessable') },
      {
        step: 'lists',
        of: { caller: agent, body: { ...everything, track_opens: false } },
        answer: refused(403, 'message_rejected', expect.stringContaining('not in allow list')),
      },
      {
        step: 'quota',
        of: { caller: agent, body: { attachments: [file] } },
        answer: refused(429, 'rate_limit_exceeded', 'Daily send limit exceeded'),
      },
      {
        step: 'attachments',
        of: { body: { attachments: [file] } },
        answer: refused(403, 'message_rejected', expect.stringContaining('Attachment 0')),
      },
    ]
    const right: Request = { caller: unlimited, message: SOURCE, key: randomUUID(), body: { text: 'Well' } }
    for (const [index, { step, answer }] of faults.entries()) {
      const wrong = Object.assign(
        {},
        right,
        ...faults
          .slice(index)
          .reverse()
          .map(({ of }) => of),
      )
      const { status, body } = await reply(wrong)
      expect({ step, status, body }).toMatchObject({ step, ...answer })
    }
    files.close()
    expect(await reply(right)).toMatchObject({ status: 200 })
  })

  it('a replay needs neither the source nor anything else that the first request needed', async () => {
    const first = { caller: inboxCaller(), message: SOURCE, key: randomUUID(), body: { text: 'Once' } }
    const { status, body } = await reply(first)
    expect(status).toBe(200)
    fixture.peers.answers = { ...fixture.peers.answers, 'mail-ingest.getReplySource': async () => ({}) }
    const { caller } = first
    const now = { ...caller, sending: 'suspended' as const, inbox: { ...caller.inbox, paused: true } }
    expect(await reply({ ...first, caller: now })).toMatchObject({ status: 200, body })
  })
})
