import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import type { CheckRequest, Finding } from '@restante/contracts/internal'
import { EventPublisher, queryRows, waitFor } from '@restante/testkit'
import { type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../support/fixture.ts'

let fixture: Fixture
const since = new Date(Date.now() - 60_000).toISOString()

beforeAll(async () => {
  fixture = await startWorld({ RETRY_FIRST: '1h', RETRY_MOST: '1h' })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

async function check(asked: Pick<CheckRequest, 'check'> & Partial<CheckRequest>): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for (let after: unknown, last = false; !last; last = after === undefined) {
    const body = { repair: false, restored: [], delete_orphans: false, operator: 'root', ...asked, after }
    const answer = await fixture.internal('mail-send.check', 'gateway', body)
    expect(answer).toMatchObject({ status: 200 })
    const page = Object(answer.body)
    found.push(...page.findings)
    after = page.next
  }
  return found
}

async function send(...to: string[]): Promise<string> {
  const answer = await fixture.call('messages.send', inboxCaller(), {
    path: '/messages/send',
    body: { to, text: 'words' },
  })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

/** Recipients at a destination of their own, and how their server answers them the first time. */
function recipients(...answers: (`${number} ${string}` | 'accept')[]): string[] {
  const domain = `d${randomUUID().slice(0, 8)}.example`
  return answers.map((answer, number) => {
    const address = `r${number}@${domain}`
    fixture.outside.answerRecipient(address, answer)
    return address
  })
}

async function messageIn(id: string): Promise<{ readonly left: boolean; readonly states: readonly string[] }> {
  const [row] = await queryRows<{ left: boolean; states: string[] }>(
    fixture.db,
    `select s.handed_over_at is not null as left, array_agg(d.state order by d.recipient) as states
       from sends s join deliveries d on d.send_id = s.id where s.message_id = $1 group by s.id`,
    id,
  )
  if (!row) throw new Error(`there is no ${id}`)
  return row
}

const statesAre = (id: string, ...states: string[]) =>
  waitFor(async () => JSON.stringify((await messageIn(id)).states) === JSON.stringify(states), {
    what: `the deliveries of ${id} to be ${states}`,
  })

/** What a backup from before the first attempt at a message has of it. */
async function restore(id: string): Promise<void> {
  const ofMessage = 'select id from sends where message_id = $1'
  await queryRows(fixture.db, `update deliveries set state = 'queued' where send_id in (${ofMessage}) returning id`, id)
  await queryRows(fixture.db, 'update sends set handed_over_at = null where message_id = $1 returning id', id)
}

describe('the outcomes of a restored mail-send', () => {
  const asked = { check: 'outcomes', restored: ['mail-send' as const], since }

  it('make a message that was only deferred or refused since the backup one that has left, so that it is not reported as sent again', async () => {
    const [deferred, bounced] = [recipients('450 4.2.0 later'), recipients('550 5.1.1 no such user', '450 4.2.0 later')]
    const [first, second] = [await send(...deferred), await send(...bounced)]
    await statesAre(first, 'deferred')
    await statesAre(second, 'bounced', 'deferred')
    for (const id of [first, second]) await factOf(fixture, id, 'delivery.handed_over')
    await factOf(fixture, second, 'delivery.bounced')
    for (const id of [first, second]) await restore(id)

    expect((await check(asked)).map(({ subject }) => subject).sort()).toEqual(
      [first, `${second} to ${bounced[0]}`].sort(),
    )
    const repaired = await check({ ...asked, repair: true })
    expect(repaired.map(({ state }) => state)).toEqual(['repaired', 'repaired'])
    expect(await messageIn(first)).toEqual({ left: true, states: ['queued'] })
    expect(await messageIn(second)).toEqual({ left: true, states: ['bounced', 'queued'] })
    expect(await check(asked)).toEqual([])

    await fixture.internal('mail-send.retryQueued', 'gateway', { operator: 'root' })
    for (const id of [first, second]) await factOf(fixture, id, 'delivery.delivered')
    for (const id of [first, second])
      expect(factsAbout(fixture, id).filter(({ type }) => type === 'delivery.handed_over')).toHaveLength(1)
  })

  it('are the last ones: a delivery that was made, and bounced by a report afterwards, has bounced', async () => {
    const to = recipients('accept')
    const id = await send(...to)
    await statesAre(id, 'delivered')
    const [row] = await queryRows<{ id: string }>(fixture.db, 'select id from deliveries where recipient = $1', to[0])
    const publisher = new EventPublisher(fixture.topics.kafka)
    const report = {
      delivery_id: row?.id ?? '',
      received_at: new Date().toISOString(),
      recipients: [{ action: 'failed' as const, status: '5.1.1', diagnostic: '550 5.1.1 no such user' }],
    }
    await publisher.publish(
      topics['mail.feedback'],
      topics['mail.feedback'].event('bounce.reported', report, { time: new Date() }),
    )
    await publisher.stop()
    await statesAre(id, 'bounced')
    await factOf(fixture, id, 'delivery.bounced')
    await restore(id)
    expect(await check({ ...asked, repair: true })).toMatchObject([{ subject: `${id} to ${to[0]}`, state: 'repaired' }])
    expect(await messageIn(id)).toEqual({ left: true, states: ['bounced'] })
    // An earlier repair may have read its events up to the delivery.
    await queryRows(fixture.db, "update deliveries set state = 'delivered' where id = $1 returning id", row?.id)
    await check({ ...asked, repair: true })
    expect(await messageIn(id)).toEqual({ left: true, states: ['bounced'] })
    expect(await check(asked)).toEqual([])
  })
})

describe('the copies of sent messages', () => {
  it('are placed again except for one that cannot be, which is reported and does not keep the others from it', async () => {
    const ids = [
      await send(...recipients('accept')),
      await send(...recipients('accept')),
      await send(...recipients('accept')),
    ]
    const [, spoilt] = ids
    await queryRows(
      fixture.db,
      "update sends set accepted_at = now() - interval '2 minutes' where message_id = any($1) returning id",
      ids,
    )
    const placed: string[] = []
    fixture.peers.answers = {
      'mail-ingest.findMissingCopies': async ({ messages }) => ({
        missing: messages.filter(({ message_id }) => ids.includes(message_id)),
      }),
      'mail-ingest.placeSent': async ({ message_id }) => {
        if (message_id === spoilt) return 500
        placed.push(message_id)
        return {}
      },
    }
    const found = await check({ check: 'copies', repair: true })
    const states = new Map(found.map(({ subject, state }) => [subject, state]))
    expect(states).toEqual(new Map(ids.map((id) => [id, id === spoilt ? 'open' : 'repaired'])))
    expect(found.find(({ subject }) => subject === spoilt)?.advice).toContain('mail-ingest logs why')
    expect(placed.sort()).toEqual(ids.filter((id) => id !== spoilt).sort())
  })
})
