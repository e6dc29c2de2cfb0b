import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { byLength, countRows, queryRows, waitFor } from '@restante/testkit'
import { type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'
import { KillableService } from '../support/killable.ts'

const SENDS = byLength({ short: 40, long: 500 })
const KILLS = byLength({ short: 1, long: 4 })
/** Sends that wait for their answers at the same time. */
const SENDERS = 2
/** In the short form the leases of a killed process end with it; in the long one, after their time. */
const WAITS_FOR_LEASES = byLength({ short: false, long: true })
/** Share of the sends that may arrive twice: those whose server took them and whose outcome died with the process. */
const TWICE = 0.01

const service = new KillableService()
let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld({}, (environment) => service.start(environment))
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

interface Accepted {
  readonly to: string
  readonly messageId: string
}

/** Sends one mail; without an answer, or while an earlier request runs, it asks again with the same key. */
async function sendUntilAnswered(at: number): Promise<Accepted> {
  const caller = inboxCaller()
  const to = `ann-${at}-${randomUUID().slice(0, 8)}@outside.example`
  const request = { path: '/messages/send', body: { to, text: `mail ${at}` }, key: randomUUID() }
  for (;;) {
    const answer = await fixture.call('messages.send', caller, request).catch(() => undefined)
    if (answer?.status === 200) return { to, messageId: String(answer.body['message_id']) }
    if (answer && answer.status !== 409 && answer.status < 500) throw new Error(`refused: ${answer.status}`)
    await sleep(50)
  }
}

/** Kills the service and starts another one. @returns recipients whose server may have taken the mail. */
async function killAndStart(): Promise<string[]> {
  await service.kill()
  // A statement that reached the database before the kill may still be committed there.
  await waitFor(
    async () =>
      (await countRows(
        fixture.db,
        `pg_stat_activity where datname = current_database() and application_name = 'mail-send'`,
      )) === 0,
    { what: 'the connections of the killed process to end' },
  )
  const open = await queryRows<{ recipient: string }>(
    fixture.db,
    `select recipient from deliveries where state = 'handing_over'`,
  )
  if (!WAITS_FOR_LEASES) {
    await queryRows(fixture.db, 'update timers set leased_until = now() where lease_id is not null returning id')
    await queryRows(fixture.db, 'update idempotency_keys set leased_until = now() where completed_at is null')
  }
  await fixture.restart()
  return open.map(({ recipient }) => recipient)
}

/** Records about a message by type, each event once however often it is in the topic. */
function eventsAbout(messageId: string): Record<string, number> {
  const about = fixture.facts.records.filter(({ value }) => JSON.parse(value).message_id === messageId)
  const unique = new Map(about.map(({ id, type }) => [id, type]))
  return Object.fromEntries(
    [...Map.groupBy(unique.values(), (type) => type)].map(([type, events]) => [type, events.length]),
  )
}

it(`delivers each of ${SENDS} mails, and publishes each event once, while it is killed ${KILLS} times`, async () => {
  const accepted: Accepted[] = []
  let next = 0
  const sending = Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while (next < SENDS) accepted.push(await sendUntilAnswered(next++))
    }),
  )
  sending.catch(() => undefined)
  const unknown = new Set<string>()
  for (let kill = 1; kill <= KILLS; kill++) {
    const from = (SENDS * kill) / (KILLS + 1)
    await waitFor(() => accepted.length >= from, { what: `${from} accepted mails`, timeout: 60_000, interval: 5 })
    await sleep(randomInt(150))
    for (const recipient of await killAndStart()) unknown.add(recipient)
  }
  await sending
  await waitFor(async () => (await countRows(fixture.db, `deliveries where state <> 'delivered'`)) === 0, {
    what: 'every delivery',
    timeout: 60_000,
  })
  await waitFor(() => accepted.every(({ messageId }) => eventsAbout(messageId)['delivery.delivered']), {
    what: 'every event',
    interval: 200,
  })

  expect(await countRows(fixture.db, 'sends')).toBe(SENDS)
  expect(await countRows(fixture.db, `timers where kind like 'delivery%'`)).toBe(0)
  for (const { to, messageId } of accepted) {
    const ids = fixture.outside.mailsTo(to).map(({ parsed }) => parsed.messageId)
    expect(new Set(ids)).toEqual(new Set([messageId]))
    expect(eventsAbout(messageId)).toEqual({
      'message.accepted': 1,
      'delivery.handed_over': 1,
      'delivery.delivered': 1,
    })
  }
  const twice = accepted.filter(({ to }) => fixture.outside.mailsTo(to).length > 1).map(({ to }) => to)
  expect(twice.filter((to) => !unknown.has(to))).toEqual([])
  if (WAITS_FOR_LEASES) expect(twice.length).toBeLessThanOrEqual(SENDS * TWICE)
}, 300_000)
