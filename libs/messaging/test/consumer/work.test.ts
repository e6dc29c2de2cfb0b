import { setTimeout as pause } from 'node:timers/promises'
import { Semaphore } from '@restante/service/concurrency'
import fc from 'fast-check'
import { Partition } from '../../src/consumer/partitions/partition.ts'
import { LATE_MS, Work, type WorkOptions } from '../../src/consumer/partitions/work.ts'
import type { ConsumedRecord } from '../../src/kafka/record.ts'
import { until } from '../fixture.ts'

const BATCH_SIZE = 5
const SLOTS = 2

interface Fetched {
  readonly partition: number
  readonly offset: number
  readonly timestamp?: number
}

/** The work of partitions with events of one organization, whose batches are recorded and held until `release`. */
function workOf({ isHeld = false, giveWay }: { isHeld?: boolean } & Pick<WorkOptions, 'giveWay'> = {}) {
  const batches: string[][] = []
  const inProgress = new Map<number, number>()
  let mostAtOnce = 0
  let running = 0
  let release: () => void = () => {}
  let held = isHeld
  const released = new Promise<void>((resolve) => {
    release = () => {
      held = false
      resolve()
    }
  })
  const process = async (records: readonly ConsumedRecord[]) => {
    running++
    mostAtOnce = Math.max(mostAtOnce, running)
    for (const id of new Set(records.map(({ partition }) => partition))) {
      if (inProgress.has(id)) throw new Error(`partition ${id} is in two batches at once`)
      inProgress.set(id, 1)
    }
    batches.push(records.map(({ partition, offset }) => `${partition}@${offset}`))
    if (held) await released
    else await pause(1)
    for (const { partition } of records) inProgress.delete(partition)
    running--
  }
  const defects: unknown[] = []
  const work = new Work({
    processor: { batchSize: BATCH_SIZE, queuePerKey: false, accepts: () => true, process },
    slots: new Semaphore(SLOTS),
    onDefect: (error) => defects.push(error),
    giveWay,
  })
  const partitions = new Map<number, Partition>()
  const take = ({ partition: id, offset, timestamp = Date.now() }: Fetched) => {
    const partition =
      partitions.get(id) ??
      new Partition({
        name: `letters/${id}`,
        work,
        limits: { records: 1_000, bytes: 1_000_000 },
        setPaused: () => {},
        onProgress: () => {},
      })
    partitions.set(id, partition)
    const record = { topic: 'letters', partition: id, offset, timestamp, key: null, value: null, headers: {} }
    partition.take([record], { last: offset, end: offset + 1 }, () => {})
  }
  return { work, take, batches, defects, partitions, release: () => release(), mostAtOnce: () => mostAtOnce }
}

describe('the work of several partitions', () => {
  it('takes what was fetched together as one batch', async () => {
    const { take, batches } = workOf()
    for (const partition of [0, 1, 2]) take({ partition, offset: 7 })
    await until(() => batches.length > 0)
    await pause(20)
    expect(batches).toEqual([['0@7', '1@7', '2@7']])
  })

  it('gathers what arrives while all slots are taken', async () => {
    const { take, batches, release } = workOf({ isHeld: true })
    for (const partition of [0, 1]) {
      take({ partition, offset: 1 })
      await until(() => batches.length === partition + 1)
    }
    for (const partition of [2, 3, 4]) {
      take({ partition, offset: 1 })
      await pause(2)
    }
    release()
    await until(() => batches.length === 3)
    expect(batches.at(-1)).toEqual(['2@1', '3@1', '4@1'])
  })

  it('handles late records apart from fresh ones, and only when they may be', async () => {
    let pass: () => void = () => {}
    const mayPass = new Promise<void>((resolve) => {
      pass = resolve
    })
    const giveWay = async () => {
      await mayPass
      return () => {}
    }
    const { take, batches } = workOf({ giveWay })
    const timestamp = Date.now() - 2 * LATE_MS
    take({ partition: 0, offset: 1, timestamp })
    take({ partition: 1, offset: 1 })
    await until(() => batches.length === 1)
    take({ partition: 2, offset: 1 })
    await until(() => batches.length === 2)
    pass()
    await until(() => batches.length === 3)
    expect(batches).toEqual([['1@1'], ['2@1'], ['0@1']])
  })

  it('begins nothing after its end', async () => {
    const { work, take, batches, release, partitions } = workOf({ isHeld: true })
    for (const partition of [0, 1]) {
      take({ partition, offset: 1 })
      await until(() => batches.length === partition + 1)
    }
    take({ partition: 2, offset: 1 })
    const ended = work.end()
    release()
    await ended
    await pause(20)
    expect(batches).toEqual([['0@1'], ['1@1']])
    expect([...partitions.values()].map(({ committable }) => committable)).toEqual([2, 2, 1])
  })

  it('handles every record once, those of a partition in order and in one batch at a time', async () => {
    const partition = fc.nat({ max: 5 })
    const fetches = fc.array(fc.array(partition, { maxLength: 12 }), { maxLength: 30 })
    const property = fc.asyncProperty(fetches, async (rounds) => {
      const { take, batches, defects, partitions, mostAtOnce } = workOf()
      const next = new Map<number, number>()
      for (const round of rounds) {
        for (const id of round) {
          const offset = next.get(id) ?? 0
          next.set(id, offset + 1)
          take({ partition: id, offset })
        }
        await pause(0)
      }
      await until(() => [...partitions.values()].every(({ lag }) => lag === 0))
      const handled = Map.groupBy(batches.flat(), (name) => Number(name.split('@')[0]))
      for (const [id, count] of next)
        expect(handled.get(id)).toEqual(Array.from({ length: count }, (_, offset) => `${id}@${offset}`))
      expect(batches.every(({ length }) => length > 0 && length <= BATCH_SIZE)).toBe(true)
      expect(mostAtOnce()).toBeLessThanOrEqual(SLOTS)
      expect(defects).toEqual([])
    })
    await fc.assert(property, { numRuns: 60, endOnFailure: true })
  })
})
