import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { MessagingFixture, posted, until } from '../fixture.ts'
import { FRESH, Gate, overtakingConsumer, postLate, UNLUCKY, write } from './late-letters.ts'

const GROUP = 'mail-ingest.letters'
const LATE = 3_000

let fixture: MessagingFixture
beforeEach(async () => {
  fixture = await MessagingFixture.open()
})
afterEach(() => fixture.close())

/**
 * Writes fresh letters, one after the other, until one has overtaken those that are late: when a consumer begins to read ahead
 * is its own matter.
 * @returns how many were written.
 */
async function writeUntilOneOvertakes(isOver: () => boolean | Promise<boolean> = hasOvertaken): Promise<number> {
  let written = 0
  await until(async () => {
    await write(fixture, [posted('box-1', FRESH + written)])
    written++
    return isOver()
  })
  return written
}

async function hasOvertaken(): Promise<boolean> {
  return (await fixture.effects()).some(({ number }) => number >= FRESH)
}

async function expectEachOnce(late: number, fresh: number): Promise<void> {
  await until(async () => (await fixture.effects()).length >= late + fresh)
  const numbers = (await fixture.effects()).map(({ number }) => number).toSorted((a, b) => a - b)
  const ofLate = Array.from({ length: late }, (_, i) => i)
  expect(numbers).toEqual([...ofLate, ...Array.from({ length: fresh }, (_, i) => FRESH + i)])
}

async function committedAll(count: number): Promise<void> {
  const sum = async () => [...(await fixture.committed(GROUP, 'letters')).values()].reduce((a, b) => a + b, 0)
  await until(async () => (await sum()) === count)
}

/** The groups of readings ahead that are left at the brokers. */
async function readers(): Promise<string[]> {
  const { groups } = await fixture.kafka.administrate((admin) => admin.listGroups())
  return groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(`${fixture.prefix}test.reader-`))
}

async function handledAhead(): Promise<number> {
  const { register } = await import('prom-client')
  const found = await register.getSingleMetric('restante_consumer_events_ahead_total')?.get()
  return found?.values.find(({ labels }) => labels['group'] === GROUP)?.value ?? 0
}

describe('a consumer that is thousands of events behind', () => {
  it('handles a fresh event before them, each once, and reads ahead no longer when it has caught up', async () => {
    await postLate(fixture, LATE)
    const gate = new Gate()
    await fixture.started(overtakingConsumer(fixture, { giveWay: gate.giveWay }))
    const before = await handledAhead()
    const fresh = await writeUntilOneOvertakes()
    expect((await fixture.effects()).every(({ number }) => number >= FRESH)).toBe(true)
    expect(await handledAhead()).toBeGreaterThan(before)
    gate.open()
    await expectEachOnce(LATE, fresh)
    await committedAll(LATE + fresh)
    await until(async () => (await readers()).length === 0)
    await write(fixture, [posted('box-1', FRESH + fresh)])
    await expectEachOnce(LATE, fresh + 1)
  })

  it('leaves a fresh event that cannot be handled to its turn, where it is dead-lettered once', async () => {
    await postLate(fixture, LATE)
    const gate = new Gate()
    await fixture.started(overtakingConsumer(fixture, { giveWay: gate.giveWay }))
    const early = await writeUntilOneOvertakes()
    await write(fixture, [posted('box-1', UNLUCKY)])
    await write(fixture, [posted('box-1', FRESH + early), posted('box-1', FRESH + early + 1)])
    await until(async () => (await fixture.effects()).some(({ number }) => number === FRESH + early + 1))
    expect(await fixture.count(`${GROUP}.dlq`)).toBe(0)
    gate.open()
    await expectEachOnce(LATE, early + 2)
    await committedAll(LATE + early + 3)
    expect(await fixture.count(`${GROUP}.dlq`)).toBe(1)
  })

  it('stops at once, and what it has not handled is handled by the next one', async () => {
    await postLate(fixture, LATE)
    const first = overtakingConsumer(fixture, { giveWay: new Gate().giveWay, by: 'first' })
    await fixture.started(first)
    const fresh = await writeUntilOneOvertakes()
    await first.stop()
    await until(async () => (await readers()).length === 0)
    const left = await fixture.effects()
    await fixture.started(overtakingConsumer(fixture, { by: 'second' }))
    await expectEachOnce(LATE, fresh)
    expect((await fixture.effects()).filter(({ text }) => text === 'first')).toHaveLength(left.length)
  })

  it('loses nothing and applies nothing twice when a second one joins while they read ahead', async () => {
    await postLate(fixture, LATE)
    const gate = new Gate()
    await fixture.started(overtakingConsumer(fixture, { giveWay: gate.giveWay, by: 'first' }))
    let fresh = await writeUntilOneOvertakes()
    const second = { giveWay: gate.giveWay, by: 'second', db: fixture.database() }
    await fixture.started(overtakingConsumer(fixture, second))
    const boxes = Array.from({ length: 20 }, (_, i) => `box-${i}`)
    await until(async () => {
      await write(
        fixture,
        boxes.map((box) => posted(box, FRESH + fresh++)),
      )
      return (await fixture.effects()).some(({ text }) => text === 'second')
    })
    expect((await fixture.effects()).every(({ number }) => number >= FRESH)).toBe(true)
    gate.open()
    await expectEachOnce(LATE, fresh)
  })

  it('is killed after the effect of a fresh event: the next one finds it marked', async () => {
    await postLate(fixture, LATE)
    const script = path.join(import.meta.dirname, 'crashing-ahead.ts')
    const child = spawn(process.execPath, [script, fixture.databaseUrl, fixture.prefix], { stdio: 'inherit' })
    const exit = once(child, 'exit')
    const fresh = await writeUntilOneOvertakes(() => child.signalCode !== null)
    const [, signal] = await exit
    expect(signal).toBe('SIGKILL')
    await fixture.started(overtakingConsumer(fixture, { by: 'survivor' }))
    await expectEachOnce(LATE, fresh)
    const byDead = (await fixture.effects()).filter(({ text }) => text === 'by the process that died')
    expect(byDead.length).toBeGreaterThan(0)
    expect(byDead.every(({ number }) => number >= FRESH)).toBe(true)
  })
})
