import { setImmediate } from 'node:timers/promises'
import type { Semaphore } from '@restante/service/concurrency'
import type { ConsumedRecord } from '../../kafka/record.ts'
import { RevokedError } from '../../processing/attempts.ts'
import type { Processor } from '../../processing/processor.ts'

export interface WorkOptions {
  readonly processor: Processor
  /** Bounds the batches that are worked on concurrently. */
  readonly slots: Semaphore
  readonly onDefect: (error: unknown) => void
  readonly giveWay?: GiveWay | undefined
}

/**
 * Called before late records are handled. Resolves when they may be, at once when the signal aborts; what it returns is called
 * when they have been handled.
 */
export type GiveWay = (signal: AbortSignal) => Promise<() => void>

/** Records that were written longer ago are late. */
export const LATE_MS = 5_000

/** Most late records that are handled together: a fresh one may come while they are, and shares processor and database with them. */
const LATE_TOGETHER = 100

/** The partition that records are of. */
export interface Holder {
  /** Topic and number, unique among the holders. */
  readonly name: string
  /** Pauses fetching until the returned function is called. */
  pause(): () => void
  finish(records: readonly ConsumedRecord[]): void
}

/** Records of one partition that are handled in their order. */
interface Queue {
  readonly name: string
  readonly holder: Holder
  /** The first ones may be in progress. */
  readonly records: ConsumedRecord[]
}

/**
 * The work of the partitions that a consumer owns. Records wait in queues: one for each key, or one for each partition, as the
 * processor asks. Of a queue at most one batch is in progress, which keeps its order. A batch takes records from as many
 * queues as have any, up to the processor's batch size, so that partitions with few events share a transaction.
 */
export class Work {
  readonly #options: WorkOptions
  readonly #revocation = new AbortController()
  readonly #queues = new Map<string, Queue>()
  /** Queues of which no record is in progress, in the order of their turns. */
  readonly #ready = new Set<Queue>()
  readonly #working = new Set<Promise<void>>()

  constructor(options: WorkOptions) {
    this.#options = options
  }

  /** Aborts when the work ends. */
  get signal(): AbortSignal {
    return this.#revocation.signal
  }

  accepts(record: ConsumedRecord): boolean {
    return this.#options.processor.accepts(record)
  }

  add(record: ConsumedRecord, holder: Holder): void {
    const name = this.#queueNameOf(record, holder)
    const queue = this.#queues.get(name)
    if (queue) {
      queue.records.push(record)
      return
    }
    const fresh = { name, holder, records: [record] }
    this.#queues.set(name, fresh)
    this.#takeTurn(fresh)
  }

  /** Starts nothing more and waits for work in progress. Work that has not begun is left to the next owner. */
  async end(): Promise<void> {
    this.#revocation.abort()
    this.#queues.clear()
    this.#ready.clear()
    await Promise.all(this.#working)
  }

  #queueNameOf({ key, offset }: ConsumedRecord, { name }: Holder): string {
    if (!this.#options.processor.queuePerKey) return name
    return key === null ? `${name} offset ${offset}` : `${name} key ${key.toString('latin1')}`
  }

  #takeTurn(queue: Queue): void {
    const { giveWay } = this.#options
    const [first] = queue.records
    if (giveWay && first && Date.now() - first.timestamp > LATE_MS) this.#begin(this.#workLate(queue, giveWay))
    else {
      this.#ready.add(queue)
      this.#begin(this.#workReady())
    }
  }

  #begin(work: Promise<void>): void {
    const working = work.catch(this.#options.onDefect)
    this.#working.add(working)
    working.finally(() => this.#working.delete(working))
  }

  /** It is begun once for each ready queue. When an earlier batch has taken that queue already, there may be nothing left to do. */
  async #workReady(): Promise<void> {
    await setImmediate() // What is fetched together is handled together.
    await this.#withSlot(() => this.#handle(this.#takeBatch()))
  }

  /** Gives way before a slot is taken: others need it meanwhile. */
  async #workLate(queue: Queue, giveWay: GiveWay): Promise<void> {
    const pass = await giveWay(this.signal)
    const most = Math.min(this.#options.processor.batchSize, LATE_TOGETHER)
    try {
      await this.#withSlot(() => this.#handle(new Map([[queue, queue.records.slice(0, most)]])))
    } finally {
      pass()
    }
  }

  async #withSlot(work: () => Promise<void>): Promise<void> {
    const free = await this.#options.slots.take()
    try {
      await work()
    } finally {
      free()
    }
  }

  #takeBatch(): Map<Queue, readonly ConsumedRecord[]> {
    const batch = new Map<Queue, readonly ConsumedRecord[]>()
    let room = this.#options.processor.batchSize
    for (const queue of this.#ready) {
      if (room === 0) break
      const records = queue.records.slice(0, room)
      room -= records.length
      this.#ready.delete(queue)
      batch.set(queue, records)
    }
    return batch
  }

  async #handle(batch: ReadonlyMap<Queue, readonly ConsumedRecord[]>): Promise<void> {
    if (batch.size === 0 || this.signal.aborted) return
    const pause = () => {
      const releases = [...batch.keys()].map(({ holder }) => holder.pause())
      return () => {
        for (const release of releases) release()
      }
    }
    try {
      await this.#options.processor.process([...batch.values()].flat(), { signal: this.signal, pause })
    } catch (error) {
      if (error instanceof RevokedError) return
      throw error
    }
    for (const [queue, records] of batch) this.#finish(queue, records)
  }

  #finish(queue: Queue, records: readonly ConsumedRecord[]): void {
    queue.records.splice(0, records.length)
    queue.holder.finish(records)
    if (this.signal.aborted) return
    if (queue.records.length > 0) this.#takeTurn(queue)
    else this.#queues.delete(queue.name)
  }
}
