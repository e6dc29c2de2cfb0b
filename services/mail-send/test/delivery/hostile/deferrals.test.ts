import { randomUUID } from 'node:crypto'
import { queryRows, waitFor } from '@restante/testkit'
import { type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../../support/fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

async function send(to: string): Promise<string> {
  const body = { to, text: 'words' }
  const answer = await fixture.call('messages.send', inboxCaller(), { path: '/messages/send', body })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

const typesAbout = (id: string) =>
  factsAbout(fixture, id)
    .map(({ type }) => type)
    .slice(1)

describe('a server that defers every second recipient', () => {
  it('gets each mail once, and only what it defers again is announced as delayed', async () => {
    const all = Array.from({ length: 40 }, (_, at) => ({
      at,
      to: `ann-${at}-${randomUUID().slice(0, 8)}@half.example`,
    }))
    for (const { at, to } of all) {
      const answers = Array.from({ length: at % 4 }, () => '451 4.3.0 later' as const)
      fixture.outside.answerRecipient(to, ...answers)
    }
    const ids = await Promise.all(all.map(({ to }) => send(to)))
    for (const id of ids) await factOf(fixture, id, 'delivery.delivered')
    for (const [at, { to }] of all.entries()) {
      expect(fixture.outside.mailsTo(to)).toHaveLength(1)
      const isDelayed = at % 4 > 1
      expect(typesAbout(ids[at] ?? '')).toEqual([
        'delivery.handed_over',
        ...(isDelayed ? ['delivery.delayed'] : []),
        'delivery.delivered',
      ])
    }
    await waitFor(
      async () =>
        (await queryRows(fixture.db, `select 1 from timers where payload->>'destination' = 'half.example'`)).length ===
        0,
      { what: 'the timers to end' },
    )
  })
})
