import { randomBytes } from 'node:crypto'
import { sql } from '@restante/service/database'
import { MessagingFixture, posted, until } from '../fixture.ts'
import { FRESH, Gate, type OvertakingOptions, overtakingConsumer, write } from './late-letters.ts'

/** Letters of one partition: more than a consumer holds of it. */
const LATE = 2_000
/** A fresh letter whose handling does not succeed at once. */
const UNSTEADY = FRESH + 1
const LOCK = sql<unknown, [key: number]>('select pg_advisory_xact_lock($1::bigint)')

let fixture: MessagingFixture
let gate: Gate
beforeEach(async () => {
  gate = new Gate()
  fixture = await MessagingFixture.open()
  await writeLate({ from: 0, count: LATE, written: 500 })
})
afterEach(() => fixture.close())

/** Writes letters that are ten minutes old, and too large for one fetch. */
async function writeLate({ from, count, written }: { from: number; count: number; written: number }): Promise<void> {
  for (let first = from; first < from + count; first += written) {
    const numbers = Array.from({ length: written }, (_, i) => first + i)
    const letters = numbers.map((number) => posted('box-1', number, randomBytes(400).toString('base64')))
    await write(fixture, letters, Date.now() - 600_000)
  }
}

/** Writes fresh letters at once; a consumer handles them together. */
async function writeFresh(...places: readonly number[]): Promise<void> {
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

describe('a fresh event behind thousands of late ones', () => {
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
})
