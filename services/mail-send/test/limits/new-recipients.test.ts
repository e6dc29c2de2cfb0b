import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import { createLogger } from '@restante/service/telemetry'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { Sweeper } from '../../src/retention/sweeper.ts'
import { type Answer, type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'

type SendingCaller = ReturnType<typeof inboxCaller>

const HOUR = 3_600_000
const DAY = 24 * HOUR

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld({ NEW_RECIPIENT_RAMP: '3/1h,5/1d,10/7d' })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

const someone = (): string => `ann-${randomUUID()}@outside.example`
const people = (count: number): string[] => Array.from({ length: count }, someone)

function send(caller: SendingCaller, ...to: string[]): Promise<Answer> {
  return fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'x' } })
}

function verified(caller: SendingCaller, ago: number): SendingCaller {
  return { ...caller, verified_at: new Date(Date.now() - ago).toISOString() }
}

function rowsOf({ organization_id: id }: SendingCaller): Promise<number[]> {
  const tables = ['sends', 'known_recipients', 'recipient_ramps']
  return Promise.all(tables.map((table) => countRows(fixture.db, `${table} where organization_id = $1`, id)))
}

describe('recipients never written to before, after the verification of an agent’s human', () => {
  it('are three in the first hour, five in the first day, ten in the first week, and any number afterwards', async () => {
    const caller = inboxCaller()
    const [first = '', ...more] = people(3)
    expect((await send(verified(caller, 60_000), first, ...more)).status).toBe(200)
    const refused = await send(verified(caller, 60_000), someone())
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limit_exceeded', resource: 'new_recipients', limit: 3, window: 'hour' },
    })
    const wait = Number(refused.headers.get('retry-after'))
    expect([wait > 3_500, wait <= 3_540]).toEqual([true, true])
    expect((await send(verified(caller, 60_000), first.toUpperCase(), ...more)).status).toBe(200)
    expect((await send(verified(caller, 2 * HOUR), first, ...people(2))).status).toBe(200)
    expect((await send(verified(caller, 2 * HOUR), someone())).body).toMatchObject({ limit: 5, window: 'day' })
    expect((await send(verified(caller, 2 * DAY), ...people(5))).status).toBe(200)
    expect((await send(verified(caller, 2 * DAY), someone())).body).toMatchObject({ limit: 10, window: '7 days' })
    expect((await send(verified(caller, 7 * DAY + 1), ...people(20))).status).toBe(200)
  })

  it('are refused together, name the longest wait, and leave nothing', async () => {
    const caller = verified(inboxCaller(), 60_000)
    expect((await send(caller, ...people(4))).body).toMatchObject({ limit: 3 })
    const refused = await send(caller, ...people(11))
    expect(refused.body).toMatchObject({ limit: 10, window: '7 days' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(6 * 24 * 3_600)
    expect(await rowsOf(caller)).toEqual([0, 0, 0])
    expect((await send(caller, ...people(2))).status).toBe(200)
    expect((await send(caller, ...people(2))).status).toBe(429)
    expect(await rowsOf(caller)).toEqual([1, 2, 1])
  })

  it('do not exceed the number in sends at the same time, of several inboxes', async () => {
    const first = verified(inboxCaller(), 60_000)
    const callers = [first, { ...first, inbox: inboxCaller().inbox }]
    const answers = await Promise.all(people(24).map((to, at) => send(callers[at % 2] ?? first, to)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(21)
    const other = verified(inboxCaller(), 60_000)
    const same = someone()
    const all = await Promise.all(Array.from({ length: 10 }, () => send(other, same)))
    expect(all.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect((await send(other, ...people(2))).status).toBe(200)
  })

  it('do not include the human, who was written to before, nor the inbox itself', async () => {
    const human = `Human-${randomUUID()}@outside.example`
    const caller = inboxCaller()
    expect((await send({ ...caller, unverified: true, sending: `only:${human.toLowerCase()}` }, human)).status).toBe(
      200,
    )
    const now = { ...caller, verified_at: new Date().toISOString() }
    expect((await send(now, human.toLowerCase(), caller.inbox.address, ...people(3))).status).toBe(200)
    expect((await send(now, human)).status).toBe(200)
    expect((await send(now, someone())).status).toBe(429)
  })

  it('include those of before the operator set the ramp', async () => {
    const caller = inboxCaller()
    const since = verified(caller, 60_000)
    const known = people(2)
    expect((await send(caller, ...known)).status).toBe(200)
    expect((await send(since, ...people(2))).status).toBe(429)
    expect((await send(since, ...known, someone())).status).toBe(200)
    expect((await send(since, someone())).status).toBe(429)
  })

  it('are counted for organizations with a verified human only, each for itself', async () => {
    expect((await send(inboxCaller(), ...people(20))).status).toBe(200)
    expect((await send(verified(inboxCaller(), 60_000), ...people(3))).status).toBe(200)
    expect((await send(verified(inboxCaller(), 60_000), ...people(3))).status).toBe(200)
  })

  it('fail a scheduled draft', async () => {
    const caller = verified(inboxCaller(), 60_000)
    const { organization_id, inbox, sending, unverified, verified_at } = caller
    fixture.peers.answers['gateway.getSendingInbox'] = async () => ({
      sender: { organization_id, inbox, sending, unverified, take_overs: 0, verified_at },
    })
    await send(caller, ...people(3))
    const body = { to: [someone()], text: 'x', send_at: new Date(Date.now() + 200).toISOString() }
    const { draft_id } = (await fixture.call('drafts.create', caller, { path: '/drafts', body })).body
    const get = () => fixture.call('drafts.get', caller, { method: 'GET', path: `/drafts/${draft_id}` })
    await waitFor(async () => ((await get()).body.send_status === 'failed' ? true : undefined), {
      what: 'the draft to fail',
    })
  })

  it('are forgotten when the ramp has ended', async () => {
    const [ended, lasting] = [verified(inboxCaller(), 60_000), verified(inboxCaller(), 60_000)]
    for (const caller of [ended, lasting]) await send(caller, ...people(3))
    const text = "update recipient_ramps set ends_at = now() - interval '2 hours' where organization_id = $1"
    await queryRows(fixture.db, text, ended.organization_id)
    const blobs = await openBlobStore(fixture.config.blobStore)
    await new Sweeper({ db: fixture.db, blobs, log: createLogger({ service: 'test', level: 'silent' }) }).sweep()
    expect(await rowsOf(ended)).toEqual([1, 0, 0])
    expect(await rowsOf(lasting)).toEqual([1, 3, 1])
  })
})
