import { randomBytes } from 'node:crypto'
import { sql } from '@restante/service/database'
import { MessagingFixture, posted, until } from '../fixture.ts'
import { FRESH, Gate, type OvertakingOptions, overtakingConsumer, write } from './late-letters.ts'

/** Letters of one partition: fewer than a consumer holds of it. */
const LATE = 500
/** Letters of a backlog that has begun after the first. */
const LATER = { from: 500_000, count: 2_000, written: 500 }
/** A fresh letter whose handling does not succeed at once. */
const UNSTEADY = FRESH + 1
const LOCK = sql<unknown, [key: number]>('select pg_advisory_xact_lock($1::bigint)')

let fixture: MessagingFixture
let gate: Gate
/** Fresh letters that were written. */
let fresh: number
beforeEach(async () => {
  gate = new Gate()
  fresh = 0
  fixture = await MessagingFixture.open()
  await writeLate({ from: 0, count: LATE, written: 500 })
})
afterEach(() => fixture.close())

/** Writes letters that are ten minutes old, and too large for one fetch. */
async function writeLate({ from, count, written }: typeof LATER): Promise<void> {
  for (let first = from; first < from + count; first += written) {
    const numbers = Array.from({ length: written }, (_, i) => first + i)
    const letters = numbers.map((number) => posted('box-1', number, randomBytes(400).toString('base64')))
    await write(fixture, letters, Date.now() - 600_000)
  }
}

/** Writes fresh letters at once; a consumer handles them together. */
async function writeFresh(...places: readonly number[]): Promise<void> {
  fresh += places.length
  await write(
    fixture,
    places.map((place) => posted('box-1', FRESH + place)),
  )
}

/** Writes fresh letters, one after the other, until one has overtaken those that are late. */
async function writeUntilOneOvertakes(first: number): Promise<void> {
  let next = first
  await until(async () => {
    await writeFresh(next++)
    return (await places()).some((place) => place >= first)
  })
}

/** Starts a consumer that handles no late letter in its order before the gate is open. */
async function start(options: Pick<OvertakingOptions, 'before' | 'db'> = {}): Promise<void> {
  await fixture.started(overtakingConsumer(fixture, { giveWay: gate.giveWay, ...options }))
}

/** The fresh letters that were handled. */
async function places(): Promise<number[]> {
  const numbers = (await fixture.effects()).map(({ number }) => number)
  return numbers.filter((number) => number >= FRESH).map((number) => number - FRESH)
}

function includesAll(places: readonly number[], wanted: readonly number[]): boolean {
  return wanted.every((place) => places.includes(place))
}

describe('a fresh event behind hundreds of late ones', () => {
  it('does not wait for them when it was written just before the process started', async () => {
    await writeFresh(0, 1, 2)
    await start()
    await until(async () => (await places()).length === 3)
    expect(await fixture.effects()).toHaveLength(3)
  })

  it('does not wait for them when it was not written alone, and its first attempts fail', async () => {
    let failures = 0
    await start({
      before: async (numbers) => {
        if (!numbers.includes(UNSTEADY) || failures === 2) return
        failures++
        throw new Error('not yet')
      },
    })
    await writeUntilOneOvertakes(10)
    await writeFresh(0, 1, 2)
    await until(async () => includesAll(await places(), [0, 1, 2]))
    expect(failures).toBe(2)
  })

  it('does not wait for one that was written with it, whose lock is held and which is left to its turn', async () => {
    const db = fixture.database({ connectMs: 5_000, lockMs: 300, statementMs: 10_000, answerMs: 12_000 })
    const holder = await db.direct()
    fixture.onClose(() => holder.end())
    await holder.query('select pg_advisory_lock($1)', [UNSTEADY])
    const before: OvertakingOptions['before'] = async (numbers, tx) => {
      if (numbers.includes(UNSTEADY)) await tx.query(LOCK, UNSTEADY)
    }
    await start({ db, before })
    await writeUntilOneOvertakes(10)
    await writeFresh(0, 1, 2)
    await until(async () => includesAll(await places(), [0, 2]))
    expect(await places()).not.toContain(1)
    await holder.query('select pg_advisory_unlock($1)', [UNSTEADY])
    gate.open()
    await until(async () => (await places()).includes(1))
  })

  it('does not wait for a second backlog, which is left to its turn as the first is', async () => {
    const [reached, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await start({
      before: async (numbers) => {
        if (!numbers.includes(UNSTEADY)) return
        reached.resolve()
        await release.promise
      },
    })
    await writeUntilOneOvertakes(10)
    await writeFresh(1)
    await reached.promise
    await writeLate(LATER)
    await writeFresh(1_000)
    release.resolve()
    await until(async () => (await places()).includes(1_000))
    const late = (await fixture.effects()).filter(({ number }) => number < FRESH)
    expect(late.length).toBeLessThan(LATER.count)
    gate.open()
    const all = LATE + LATER.count + fresh
    await until(async () => (await fixture.effects()).length >= all)
    const numbers = (await fixture.effects()).map(({ number }) => number)
    expect([numbers.length, new Set(numbers).size]).toEqual([all, all])
  })
})
