import { randomUUID } from 'node:crypto'
import { byLength, type PeerAnswer, queryRows } from '@restante/testkit'
import { age, type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../../support/fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld({ RETRY_FIRST: '300ms', RETRY_MOST: '800ms' })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

/** The registry of enhanced status codes (RFC 3463, IANA): how many details each subject has. */
const DETAILS: Readonly<Record<number, number>> = { 0: 0, 1: 10, 2: 4, 3: 6, 4: 7, 5: 6, 6: 10, 7: 30 }
const SUBJECTS = Object.keys(DETAILS).map(Number)
const everyCodeOf = (subject: number) =>
  Array.from({ length: (DETAILS[subject] ?? 0) + 1 }, (_, at) => `${subject}.${at}`)
/** The short run has those that have a rule of their own, and one of the others of each subject. */
const codesOf = (subject: number) => {
  const all = everyCodeOf(subject)
  return byLength({ short: all.filter((code, at) => at === 0 || OF_THEIR_OWN.includes(code)), long: all })
}

const NO_EMAIL = ['1.1', '1.2', '1.3', '1.6', '1.10']
const MAILBOX_FULL = ['2.2']
const TOO_LARGE = ['2.3', '3.4']
/** About the sender or the way, not the address: these, and all of the subjects 4 to 7. */
const REFUSED = ['1.7', '1.8', '3.0', '3.2']
const OF_THEIR_OWN = [...NO_EMAIL, ...MAILBOX_FULL, ...TOO_LARGE, ...REFUSED]

/** How a permanent refusal is classified, and after how many messages its recipient is suppressed (events 1.3). */
function expected(code: string): { type: string; sub_type: string; suppressedAfter: number } {
  const never = Number.POSITIVE_INFINITY
  if (NO_EMAIL.includes(code)) return { type: 'Permanent', sub_type: 'NoEmail', suppressedAfter: 1 }
  if (MAILBOX_FULL.includes(code)) return { type: 'Transient', sub_type: 'MailboxFull', suppressedAfter: never }
  if (TOO_LARGE.includes(code)) return { type: 'Transient', sub_type: 'MessageTooLarge', suppressedAfter: never }
  if (REFUSED.includes(code) || /^[4567]\./.test(code))
    return { type: 'Transient', sub_type: 'ContentRejected', suppressedAfter: never }
  return { type: 'Permanent', sub_type: 'General', suppressedAfter: 2 }
}

interface Recipient {
  readonly caller: ReturnType<typeof inboxCaller>
  readonly to: string
}

function someone(): Recipient {
  return { caller: inboxCaller(), to: `ann@${randomUUID().slice(0, 12)}.example` }
}

function refuse({ to }: Recipient, stage: Stage, answers: readonly PeerAnswer[]): void {
  if (stage === 'RCPT') fixture.outside.answerRecipient(to, ...answers)
  else fixture.outside.answerData(to, ...answers)
}

async function send({ caller, to }: Recipient): Promise<string> {
  const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'words' } })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

async function entriesOf({ caller }: Recipient): Promise<object[]> {
  const text = 'select direction, type, entry, reason, read_only from list_entries where organization_id = $1'
  return queryRows<object>(fixture.db, text, caller.organization_id)
}

const typesAbout = (id: string) =>
  factsAbout(fixture, id)
    .map(({ type }) => type)
    .slice(1)

type Stage = 'RCPT' | 'the end of DATA'
const STAGES: readonly Stage[] = ['RCPT', 'the end of DATA']
const CASES = SUBJECTS.flatMap((subject) => STAGES.map((stage): [number, Stage] => [subject, stage]))

describe('a permanent refusal', () => {
  it.each(CASES)('with a status 5.%i.x at %s bounces as its code says', async (subject, stage) => {
    const outcomes = codesOf(subject).map(async (code) => {
      const recipient = someone()
      const wanted = expected(code)
      for (const nth of [1, 2]) {
        refuse(recipient, stage, [`550 5.${code} No thanks`])
        const id = await send(recipient)
        const { payload } = await factOf(fixture, id, 'delivery.bounced')
        expect({ code, ...payload }).toMatchObject({
          code,
          type: wanted.type,
          sub_type: wanted.sub_type,
          recipients: [recipient.to],
        })
        expect(typesAbout(id)).toEqual(['delivery.handed_over', 'delivery.bounced'])
        const isSuppressed = nth >= wanted.suppressedAfter
        const entry = { direction: 'send', type: 'block', entry: recipient.to, reason: 'bounced', read_only: true }
        expect({ code, nth, entries: await entriesOf(recipient) }).toEqual({
          code,
          nth,
          entries: isSuppressed ? [entry] : [],
        })
        if (isSuppressed) return
      }
    })
    await Promise.all(outcomes)
  })
})

describe('a temporary refusal', () => {
  it.each(byLength({ short: CASES.filter(([subject]) => subject % 3 === 1), long: CASES }))(
    'with a status 4.%i.x at %s is retried, announced, and given up without suppressing',
    async (subject, stage) => {
      const outcomes = codesOf(subject).map(async (code) => {
        const recipient = someone()
        refuse(recipient, stage, Array<PeerAnswer>(500).fill(`451 4.${code} No thanks`))
        const id = await send(recipient)
        await factOf(fixture, id, 'delivery.delayed')
        await age(fixture, id)
        const { payload } = await factOf(fixture, id, 'delivery.bounced')
        const sub_type = MAILBOX_FULL.includes(code) ? 'MailboxFull' : 'General'
        expect({ code, ...payload }).toMatchObject({ code, type: 'Transient', sub_type, recipients: [recipient.to] })
        expect(typesAbout(id)).toEqual(['delivery.handed_over', 'delivery.delayed', 'delivery.bounced'])
        expect(await entriesOf(recipient)).toEqual([])
      })
      await Promise.all(outcomes)
    },
  )
})
