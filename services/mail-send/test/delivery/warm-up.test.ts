import path from 'node:path'
import { Database } from '@restante/service/database'
import { createDatabase, lastingPeriod, queryRows, waitFor } from '@restante/testkit'
import { volumeOn, WarmUp } from '../../src/delivery/warm-up/warm-up.ts'
import { inboxCaller, startWorld } from '../support/fixture.ts'

const DAY_MS = 24 * 3_600_000
const FROM = new Date('2026-12-01T00:00:00Z')
const PLAN = { from: FROM, start: 100, doublingMs: 3 * DAY_MS }

describe('the volume of a warm-up', () => {
  it.each([
    ['2026-11-20T12:00:00Z', 100],
    ['2026-12-01T23:59:59Z', 100],
    ['2026-12-02T00:00:00Z', 125],
    ['2026-12-04T00:00:00Z', 200],
    ['2026-12-31T00:00:00Z', 102_400],
    ['2036-12-01T00:00:00Z', 2_000_000_000],
  ])('on %s is %d', (now, volume) => {
    expect(volumeOn(PLAN, new Date(now))).toBe(volume)
  })
})

describe('counting', () => {
  it('admits exactly the volume of the day, however many processes count', async () => {
    const database = await createDatabase(path.join(import.meta.dirname, '../..'))
    const databases = [1, 2].map(() => new Database({ url: database.url, applicationName: 'test' }))
    const warmUp = new WarmUp({ ...PLAN, source: 'mail.restante.test', start: 7 })
    const now = new Date('2026-12-01T12:00:00Z')
    const admitted = await Promise.all(
      databases.flatMap((db) => Array.from({ length: 20 }, () => warmUp.count(db, now))),
    )
    expect(admitted.filter(Boolean)).toHaveLength(7)
    const [db] = databases
    if (!db) throw new Error('no database')
    const next = (await warmUp.closedUntil(db, now))?.toISOString()
    expect(next).toMatch(/^2026-12-02T00:/)
    expect(await warmUp.closedUntil(db, new Date(next ?? ''))).toBeUndefined()
    const other = new WarmUp({ ...PLAN, source: 'mail2.restante.test', start: 7 })
    expect(await other.closedUntil(db, now)).toBeUndefined()
    await Promise.all(databases.map((one) => one.stop()))
    await database.drop()
  })
})

describe('WARM_UP_FROM', () => {
  it('lets mail wait above the volume of the day, without counting an attempt', async () => {
    await lastingPeriod(DAY_MS)
    const today = new Date().toISOString().slice(0, 10)
    const fixture = await startWorld({ WARM_UP_FROM: today, WARM_UP_START: '3' })
    fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
    // One message to more recipients than there is room for is delivered to as many as there is.
    for (const to of [['ann@a.example', 'bo@a.example'], ['cy@b.example', 'di@b.example'], ['ed@c.example']]) {
      const answer = await fixture.call('messages.send', inboxCaller(), {
        path: '/messages/send',
        body: { to, text: 'x' },
      })
      expect(answer.status).toBe(200)
    }
    const waiting = () =>
      queryRows<{ attempts: number; state: string; hours: number }>(
        fixture.db,
        `select d.attempts, d.state, extract(epoch from t.due_at - now())::float8 / 3600 as hours
           from deliveries d join timers t on t.key = d.send_id || '/' || d.destination
          where d.state = 'queued'`,
      )
    const isPostponed = async () => {
      const rows = await waiting()
      const midnight = (Math.ceil(Date.now() / DAY_MS) * DAY_MS - Date.now()) / 3_600_000
      return rows.length === 2 && rows.every(({ hours }) => hours > midnight - 0.01)
    }
    await waitFor(async () => fixture.outside.mails.length === 3 && (await isPostponed()), {
      what: 'three delivered, and two that wait for tomorrow',
    })
    expect(await waiting()).toEqual([1, 2].map(() => expect.objectContaining({ attempts: 0, state: 'queued' })))
    // The next day.
    await queryRows(fixture.db, 'update warm_up_counts set recipients = 0 returning source')
    await queryRows(fixture.db, 'update timers set due_at = now() returning id')
    await waitFor(() => fixture.outside.mails.length === 5, { what: 'the rest' })
    await fixture.stop()
  })
})
