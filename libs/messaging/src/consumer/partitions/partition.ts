import type { ConsumedRecord } from '../../kafka/record.ts'
import type { Holder, Work } from './work.ts'

export interface Limits {
  /** Records that a partition holds, waiting or in progress, before fetching is paused. */
  readonly records: number
  /** The same limit in bytes of values. */
  readonly bytes: number
}

export interface PartitionOptions {
  /** Topic and number, unique within the work. */
  readonly name: string
  readonly work: Work
  readonly limits: Limits
  /** Pauses or resumes fetching. */
  readonly setPaused: (paused: boolean) => void
  /** The lowest unfinished offset may have moved. */
  readonly onProgress: () => void
}

/**
 * What this consumer holds of one partition while it owns it: the records that are not finished. The lowest unfinished offset is
 * the only one that is committed.
 */
export class Partition implements Holder {
  readonly name: string
  readonly #options: PartitionOptions
  /** In offset order, because records arrive in that order. */
  readonly #unfinished = new Map<number, ConsumedRecord>()
  #bytes = 0
  #next: number | undefined
  /** Offset after the last record of the topic, as of the last fetch. */
  #end = 0
  #pauses = 0
  #paused = false

  constructor(options: PartitionOptions) {
    this.name = options.name
    this.#options = options
    options.work.signal.addEventListener('abort', () => this.#regulate(), { once: true })
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
    const { work } = this.#options
    if (work.signal.aborted) return
    for (const record of records) {
      if (!work.accepts(record)) {
        skipped()
        continue
      }
      this.#unfinished.set(record.offset, record)
      this.#bytes += size(record)
      work.add(record, this)
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

  finish(records: readonly ConsumedRecord[]): void {
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
    const paused = !this.#options.work.signal.aborted && (full || this.#pauses > 0)
    if (paused === this.#paused) return
    this.#paused = paused
    this.#options.setPaused(paused)
  }
}

function size(record: ConsumedRecord): number {
  return record.value?.length ?? 0
}
