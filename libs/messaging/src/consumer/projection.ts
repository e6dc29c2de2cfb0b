import type { TopicDefinition } from '@restante/contracts/events'
import { jitteredBackoff, pause } from '@restante/service/concurrency'
import { sql, type Tx } from '@restante/service/database'
import type { Component } from '@restante/service/process'
import type { Handlers } from '../processing/handlers.ts'
import { Consumer } from './consumer.ts'
import type { ConsumerOptions } from './options.ts'

/** A page of an owner's entities in the order of their keys; the last page has no `next`. */
export interface SnapshotPage<Entity> {
  readonly entities: readonly Entity[]
  readonly next?: string | undefined
}

/**
 * The projection's table, which the service owns. The convention: a column `version`, of which only a newer value is
 * written; a column `reconciled_at`, by default the time of the insert; and a deletion that leaves a tombstone, so that
 * an older page or event cannot bring the entity back.
 */
export interface ProjectionStore<Entity> {
  /** Writes the entities that are newer than their rows, and sets `reconciled_at` to `at` on the rows of all of them. */
  apply(tx: Tx, entities: readonly Entity[], at: Date): Promise<void>
  /** Deletes the rows whose `reconciled_at` is before `at`: the owner no longer has them. Returns how many. */
  sweep(tx: Tx, at: Date): Promise<number>
}

export type ProjectionOptions<T extends TopicDefinition, Entity> = Extract<
  ConsumerOptions<T>,
  { handlers: Handlers<T> }
> & {
  /** The owner's entities after a key, in pages. */
  readonly snapshot: (after: string | undefined) => Promise<SnapshotPage<Entity>>
  readonly store: ProjectionStore<Entity>
  /** Default: a day. */
  readonly reconcileEveryMs?: number
}

const DAY_MS = 86_400_000
const CHECK_MS = 900_000
/** Waits after a reconciliation that failed. */
const RETRY = { firstMs: 500, longestMs: 60_000 }

const NOW = sql<{ now: Date }>('select now() as now')
// The time of the last reconciliation is kept among the marks: once per consumer, shared by all replicas.
const LAST = sql<{ at: Date }, [consumer: string]>(
  `select consumed_at as at from consumed where consumer = $1 and event_id = 'reconciled'`,
)
const RECONCILED = sql<never, [consumer: string, at: Date]>(`
insert into consumed (consumer, event_id, consumed_at) values ($1, 'reconciled', $2)
on conflict (consumer, event_id) do update set consumed_at = greatest(consumed.consumed_at, excluded.consumed_at)`)

/**
 * Another service's state, kept here as rows: updated by its events, filled from its snapshot at first, and compared
 * with the snapshot daily, so that a lost event is repaired. It is the one mechanism by which a service keeps and
 * reconciles the state of another owner; no service has a loop of its own for that. It may say yes, never no: before a service answers "there
 * is no such thing" from a projection, it asks the owner.
 */
export class Projection<T extends TopicDefinition, Entity> implements Component {
  readonly name: string
  readonly stage = 'work'
  readonly topics: readonly T[]
  readonly group: string
  readonly consumer: Consumer<T>
  readonly #options: ProjectionOptions<T, Entity>
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: ProjectionOptions<T, Entity>) {
    this.#options = options
    this.consumer = new Consumer<T>(options)
    this.topics = this.consumer.topics
    this.group = this.consumer.group
    this.name = `projection ${this.consumer.group}`
  }

  async start(): Promise<void> {
    await this.consumer.start()
    this.#running = this.#run()
  }

  working(): Promise<void> {
    return this.consumer.working()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all([this.consumer.stop(), this.#running])
  }

  /**
   * Marks every row that the owner still has and sweeps the rest. Rows that events add during the run are newer than
   * `at`, so they stay. Two replicas that reconcile concurrently do no harm.
   */
  async reconcile(): Promise<void> {
    const { db, kafka, snapshot, store } = this.#options
    const startedAt = performance.now()
    const [clock] = await db.query(NOW)
    const at = clock?.now ?? new Date()
    let entities = 0
    for (let after: string | undefined, last = false; !last; ) {
      if (this.#stop.signal.aborted) return
      const page = await snapshot(after)
      if (page.entities.length > 0) await db.transaction((tx) => store.apply(tx, page.entities, at))
      entities += page.entities.length
      after = page.next
      last = after === undefined
    }
    const swept = await db.transaction(async (tx) => {
      const gone = await store.sweep(tx, at)
      await tx.query(RECONCILED, this.consumer.group, at)
      return gone
    })
    const ms = Math.round(performance.now() - startedAt)
    kafka.log.info({ group: this.consumer.group, entities, swept, ms }, 'projection reconciled')
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      try {
        if (await this.#due()) await this.reconcile()
        failures = 0
      } catch (error) {
        failures++
        const line = { group: this.consumer.group, failures, err: error }
        this.#options.kafka.log.warn(line, 'projection reconciliation failed')
      }
      await pause(failures > 0 ? jitteredBackoff(failures, RETRY) : CHECK_MS * (0.5 + Math.random()), this.#stop.signal)
    }
  }

  async #due(): Promise<boolean> {
    const [last] = await this.#options.db.query(LAST, this.consumer.group)
    return !last || Date.now() - last.at.getTime() >= (this.#options.reconcileEveryMs ?? DAY_MS)
  }
}
