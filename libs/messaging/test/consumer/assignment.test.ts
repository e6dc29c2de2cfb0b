import { Semaphore } from '@restante/service/concurrency'
import { createLogger } from '@restante/service/telemetry'
import type { EachBatchPayload, Offsets } from 'kafkajs'
import { Assignment } from '../../src/consumer/partitions/assignment.ts'
import { until } from '../fixture.ts'

/** A payload as kafkajs delivers it, whose commits are recorded. */
function payloadOf(offsets: readonly number[], commits: Offsets[]): EachBatchPayload {
  const unused = () => {
    throw new Error('not used')
  }
  const messages = offsets.map((offset) => ({
    key: Buffer.from(`key-${offset}`),
    value: Buffer.from('{}'),
    timestamp: '0',
    attributes: 0,
    offset: String(offset),
    headers: {},
  }))
  return {
    batch: {
      topic: 'letters',
      partition: 0,
      highWatermark: '100',
      messages,
      isEmpty: () => false,
      firstOffset: () => String(offsets[0]),
      lastOffset: () => String(offsets.at(-1)),
      offsetLag: () => '0',
      offsetLagLow: () => '0',
    },
    commitOffsetsIfNecessary: async (committed) => {
      if (committed) commits.push(committed)
    },
    resolveOffset: unused,
    heartbeat: unused,
    pause: unused,
    uncommittedOffsets: unused,
    isRunning: unused,
    isStale: unused,
  }
}

function assignment(process: (offset: number) => Promise<void>): Assignment {
  return new Assignment({
    assigned: {},
    processor: {
      batchSize: 1,
      queuePerKey: true,
      accepts: () => true,
      process: async (records) => {
        for (const record of records) await process(record.offset)
      },
    },
    limits: { records: 100, bytes: 1_000_000 },
    slots: new Semaphore(10),
    setPaused: () => {},
    nameOf: (topic) => topic,
    onSkipped: () => {},
    onDefect: (error) => {
      throw error
    },
    log: createLogger({ service: 'test', level: 'silent' }),
  })
}

const offsetsOf = (commits: readonly Offsets[]) =>
  commits.flatMap(({ topics }) => topics.flatMap(({ partitions }) => partitions.map((it) => it.offset)))

describe('an assignment', () => {
  it('commits on revocation what finished during the drain', async () => {
    const commits: Offsets[] = []
    let finish: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      finish = resolve
    })
    let begun = 0
    const it = assignment(async () => {
      begun++
      await held
    })
    it.dispatch(payloadOf([5, 6], commits))
    await until(() => begun === 2)
    const ended = it.end(5_000)
    finish()
    await ended
    expect(offsetsOf(commits).at(-1)).toBe('7')
  })

  it('does not commit what finishes after its drain', async () => {
    const commits: Offsets[] = []
    let finished = 0
    let finish: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      finish = resolve
    })
    const it = assignment(async (offset) => {
      if (offset === 6) await held
      finished++
    })
    it.dispatch(payloadOf([5, 6, 7], commits))
    await until(() => finished === 2)
    await it.end(50)
    finish()
    await until(() => finished === 3)
    await it.end(50)
    expect(new Set(offsetsOf(commits))).toEqual(new Set(['6']))
  })

  it('commits nothing and accepts nothing once it was abandoned', async () => {
    const commits: Offsets[] = []
    let finished = 0
    const it = assignment(async () => {
      finished++
    })
    it.dispatch(payloadOf([5], commits))
    await until(() => finished === 1)
    it.abandon()
    it.dispatch(payloadOf([6], commits))
    await it.end(50)
    expect(commits).toEqual([])
    expect(finished).toBe(1)
  })
})
