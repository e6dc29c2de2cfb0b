import type { Semaphore } from '@restante/service/concurrency'
import type { ConsumedRecord } from '../../kafka/record.ts'
import { type PausablePartition, RevokedError } from '../../processing/attempts.ts'
import type { Processor } from '../../processing/processor.ts'

export interface Limits {
  /** Records that a partition holds, waiting or in progress, before fetching is paused. */
  readonly records: number
  /** The same limit in bytes of values. */
  readonly bytes: number
}

export interface PartitionOptions {
  readonly processor: Processor
  readonly limits: Limits
  /** Bounds the queues that are worked on concurrently, over all partitions of the consumer. */
  readonly slots: Semaphore
  /** Pauses or resumes fetching. */
  readonly setPaused: (paused: boolean) => void
  /** The lowest unfinished offset may have moved. */
  readonly onProgress: () => void
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

/**
 * The work of one partition while this consumer owns it. Records wait in one queue per key, so that a slow key delays
 * no other and the order within a key is kept. The lowest unfinished offset is the only one that is committed.
 */
export class Partition implements PausablePartition {
  readonly #options: PartitionOptions
  readonly #revocation = new AbortController()
  /** In offset order, because records arrive in that order. */
  readonly #unfinished = new Map<number, ConsumedRecord>()
  readonly #queues = new Map<string, ConsumedRecord[]>()
  readonly #working = new Set<Promise<void>>()
  #bytes = 0
  #next: number | undefined
  /** Offset after the last record of the topic, as of the last fetch. */
  #end = 0
  #pauses = 0
  #paused = false

  constructor(options: PartitionOptions) {
    this.#options = options
  }

  get signal(): AbortSignal {
    return this.#revocation.signal
  }

  get paused(): boolean {
    return this.#paused
  }

  /** When the oldest unfinished record was written; `undefined` when there is none. */
  get oldest(): number | undefined {
    const [first] = this.#unfinished.values()
    return first?.timestamp
  }

  /** All offsets below this one are finished; `undefined` before the first record. */
  get committable(): number | undefined {
    const [first] = this.#unfinished.keys()
    return first ?? this.#next
  }

  /** The offset after the last record that was fetched; `undefined` before the first fetch. */
  get next(): number | undefined {
    return this.#next
  }

  /** The offset after the last record of the topic's partition, as of the last fetch. */
  get end(): number {
    return this.#end
  }

  /** How many records are written and not finished, as of the last fetch. */
  get lag(): number {
    const done = this.committable
    return done === undefined ? 0 : Math.max(0, this.#end - done)
  }

  /**
   * Accepts the records of one fetch.
   * @param to `last`: offset of the last record, which may be beyond the last of `records`; `end`: offset after the last
   * one of the topic's partition.
   */
  take(records: readonly ConsumedRecord[], to: { last: number; end: number }, skipped: () => void): void {
    if (this.signal.aborted) return
    const { processor } = this.#options
    for (const record of records) {
      if (!processor.accepts(record)) {
        skipped()
        continue
      }
      this.#unfinished.set(record.offset, record)
      this.#bytes += size(record)
      this.#enqueue(record)
    }
    this.#next = to.last + 1
    this.#end = to.end
    this.#regulate()
    this.#options.onProgress()
  }

  pause(): () => void {
    this.#pauses++
    this.#regulate()
    return () => {
      this.#pauses--
      this.#regulate()
    }
  }

  /** Starts nothing more and waits for work in progress. Work that has not begun is left to the next owner. */
  async drain(): Promise<void> {
    this.#revocation.abort()
    this.#queues.clear()
    this.#regulate()
    await Promise.all(this.#working)
  }

  #enqueue(record: ConsumedRecord): void {
    const name = this.#queueNameOf(record)
    const queue = this.#queues.get(name)
    if (queue) {
      queue.push(record)
      return
    }
    const fresh = [record]
    this.#queues.set(name, fresh)
    const working = this.#work(name, fresh).catch(this.#options.onDefect)
    this.#working.add(working)
    working.finally(() => this.#working.delete(working))
  }

  #queueNameOf(record: ConsumedRecord): string {
    if (!this.#options.processor.queuePerKey) return ''
    return record.key === null ? `offset ${record.offset}` : `key ${record.key.toString('latin1')}`
  }

  async #work(name: string, queue: ConsumedRecord[]): Promise<void> {
    const { processor, slots } = this.#options
    while (queue.length > 0) {
      const pass = await this.#giveWay(queue)
      const free = await slots.take()
      try {
        if (this.signal.aborted) return
        const records = queue.slice(0, processor.batchSize)
        await processor.process(records, this)
        queue.splice(0, records.length)
        this.#finish(records)
      } catch (error) {
        if (error instanceof RevokedError) return
        throw error
      } finally {
        free()
        pass()
      }
    }
    if (this.#queues.get(name) === queue) this.#queues.delete(name)
  }

  /** Before a slot is taken: others need it meanwhile. */
  async #giveWay([first]: readonly ConsumedRecord[]): Promise<() => void> {
    const { giveWay } = this.#options
    const isLate = first !== undefined && Date.now() - first.timestamp > LATE_MS
    return giveWay && isLate && !this.signal.aborted ? giveWay(this.signal) : () => {}
  }

  #finish(records: readonly ConsumedRecord[]): void {
    for (const record of records) {
      this.#unfinished.delete(record.offset)
      this.#bytes -= size(record)
    }
    this.#regulate()
    this.#options.onProgress()
  }

  /** Pauses when full and resumes at half capacity (hysteresis), so that it does not toggle with every record. */
  #regulate(): void {
    const { records, bytes } = this.#options.limits
    const factor = this.#paused ? 0.5 : 1
    const full = this.#unfinished.size >= records * factor || this.#bytes >= bytes * factor
    const paused = !this.signal.aborted && (full || this.#pauses > 0)
    if (paused === this.#paused) return
    this.#paused = paused
    this.#options.setPaused(paused)
  }
}

function size(record: ConsumedRecord): number {
  return record.value?.length ?? 0
}
