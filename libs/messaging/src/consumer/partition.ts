import { type Place, RevokedError } from './attempts.ts'
import type { Processor } from './processor.ts'
import type { ConsumedRecord } from './record.ts'
import type { Semaphore } from './semaphore.ts'

export interface Limits {
  /** Records that a partition holds, waiting or in work, before it is not fetched any more. */
  readonly records: number
  /** The same in bytes of values. */
  readonly bytes: number
}

export interface PartitionOptions {
  readonly processor: Processor
  readonly limits: Limits
  /** Lanes that work at the same time, over all partitions of the consumer. */
  readonly slots: Semaphore
  /** Fetching is to stop, or may go on. */
  readonly setPaused: (paused: boolean) => void
  /** The lowest unfinished offset may have moved. */
  readonly onProgress: () => void
  readonly onDefect: (error: unknown) => void
}

/**
 * The work of one partition while this consumer owns it. Records wait in lanes, one per key, so that a slow key holds
 * up nobody else and the order within a key is kept. It knows the lowest unfinished offset, which alone is committed.
 */
export class Partition implements Place {
  readonly #options: PartitionOptions
  readonly #revocation = new AbortController()
  /** In the order of their offsets, because records come in that order. */
  readonly #unfinished = new Map<number, ConsumedRecord>()
  readonly #lanes = new Map<string, ConsumedRecord[]>()
  readonly #working = new Set<Promise<void>>()
  #bytes = 0
  #next: number | undefined
  #holds = 0
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

  /** Everything below is finished; `undefined` before the first record. */
  get committable(): number | undefined {
    const [first] = this.#unfinished.keys()
    return first ?? this.#next
  }

  /** Takes the records of one fetch; `lastOffset` may lie behind the last of them. */
  take(records: readonly ConsumedRecord[], lastOffset: number, skipped: () => void): void {
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
    this.#next = lastOffset + 1
    this.#regulate()
    this.#options.onProgress()
  }

  hold(): () => void {
    this.#holds++
    this.#regulate()
    return () => {
      this.#holds--
      this.#regulate()
    }
  }

  /** Starts nothing more and waits for what is being worked on. What was not begun is left to the next owner. */
  async drain(): Promise<void> {
    this.#revocation.abort()
    this.#lanes.clear()
    this.#regulate()
    await Promise.all(this.#working)
  }

  #enqueue(record: ConsumedRecord): void {
    const name = this.#laneOf(record)
    const lane = this.#lanes.get(name)
    if (lane) {
      lane.push(record)
      return
    }
    const fresh = [record]
    this.#lanes.set(name, fresh)
    const working = this.#work(name, fresh).catch(this.#options.onDefect)
    this.#working.add(working)
    working.finally(() => this.#working.delete(working))
  }

  #laneOf(record: ConsumedRecord): string {
    if (!this.#options.processor.lanePerKey) return ''
    return record.key === null ? `offset ${record.offset}` : `key ${record.key.toString('latin1')}`
  }

  async #work(name: string, lane: ConsumedRecord[]): Promise<void> {
    const { processor, slots } = this.#options
    while (lane.length > 0) {
      const free = await slots.take()
      try {
        if (this.signal.aborted) return
        const records = lane.slice(0, processor.batchSize)
        await processor.process(records, this)
        lane.splice(0, records.length)
        this.#finish(records)
      } catch (error) {
        if (error instanceof RevokedError) return
        throw error
      } finally {
        free()
      }
    }
    if (this.#lanes.get(name) === lane) this.#lanes.delete(name)
  }

  #finish(records: readonly ConsumedRecord[]): void {
    for (const record of records) {
      this.#unfinished.delete(record.offset)
      this.#bytes -= size(record)
    }
    this.#regulate()
    this.#options.onProgress()
  }

  /** Full is full; it goes on at half, so that it does not flutter between the two. */
  #regulate(): void {
    const { records, bytes } = this.#options.limits
    const factor = this.#paused ? 0.5 : 1
    const full = this.#unfinished.size >= records * factor || this.#bytes >= bytes * factor
    const paused = !this.signal.aborted && (full || this.#holds > 0)
    if (paused === this.#paused) return
    this.#paused = paused
    this.#options.setPaused(paused)
  }
}

function size(record: ConsumedRecord): number {
  return record.value?.length ?? 0
}
