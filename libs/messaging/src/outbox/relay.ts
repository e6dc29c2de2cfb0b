import { jitteredBackoff, pause, Wakeup } from '@restante/service/concurrency'
import type { Database } from '@restante/service/database'
import { messageOf } from '@restante/service/errors'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { Kafka } from '../kafka/kafka.ts'
import {
  outboxLag,
  outboxLeading,
  outboxParked,
  outboxPublished,
  outboxRefused,
  outboxUnpublished,
} from '../kafka/telemetry.ts'
import { Candidate } from './leadership.ts'
import type { Outbox } from './outbox.ts'
import { Publisher, type Refusal } from './publisher.ts'
import { BACKLOG, DELETE_OLD, NEXT, PUBLISHED, REFUSED } from './statements.ts'

export interface RelayOptions {
  readonly kafka: Kafka
  readonly db: Pick<Database, 'direct'>
  readonly outbox: Outbox
  /** Poll interval of the leader when no notification of a commit arrives. Default 250 ms. */
  readonly pollMs?: number
  /** How often a stand-by tries to become the leader. Default 500 ms. */
  readonly standbyMs?: number
}

const BATCH_ROWS = 400
/** Estimated request size at which a batch is full; one event of the largest size fits on top of it. */
const BATCH_BYTES = 1_000_000
/**
 * Shortest time between two requests to Kafka. An event that comes alone is published at once; of many, those of the same
 * moment share a request, and then the fetches and the transactions of every consumer.
 */
const SPACING_MS = 15
const HOUSEKEEPING_MS = 5_000
const DELETE_ROWS = 2_000
const DRAIN_MS = 5_000
const RETRY = { firstMs: 200, longestMs: 2_000 }

/**
 * Carries committed events from the outbox table to Kafka, in the order of their positions. Every process of a service
 * runs a relay; the one that holds the database's advisory lock works, the others stand by.
 *
 * An event whose transaction committed reaches Kafka at least once, whatever crashes in between: it is marked only
 * after all in-sync replicas have it.
 */
export class Relay implements Component {
  readonly name = 'outbox relay'
  readonly stage = 'base'
  readonly #options: RelayOptions
  readonly #log: Logger
  readonly #wakeup = new Wakeup()
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #failure: string | undefined = 'not started'

  constructor(options: RelayOptions) {
    this.#options = options
    this.#log = options.kafka.log
  }

  async start(): Promise<void> {
    this.#failure = undefined
    outboxLeading.set(0)
    this.#running = this.#run()
  }

  /** Rejects while the relay can neither lead nor stand by, or leads and cannot publish. */
  async working(): Promise<void> {
    if (this.#failure !== undefined) throw new Error(this.#failure)
  }

  /** Publishes what is committed already, for at most 5 s, and hands over to a stand-by. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wakeup.notify()
    await this.#running
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      let candidate: Candidate | undefined
      try {
        candidate = await Candidate.open(this.#options.db, this.#wakeup.notify)
        failures = 0
        await this.#serve(candidate)
      } catch (error) {
        failures++
        this.#fail('outbox relay lost its database connection', error)
        await pause(jitteredBackoff(failures, RETRY), this.#stop.signal)
      } finally {
        candidate?.close()
      }
    }
  }

  /** Stands by until the lock is free, then leads until the connection or the process ends. */
  async #serve(candidate: Candidate): Promise<void> {
    while (!(await candidate.tryLead())) {
      this.#failure = undefined
      await pause(this.#options.standbyMs ?? 500, this.#stop.signal)
      if (this.#stop.signal.aborted) return
    }
    const publisher = new Publisher(this.#options.kafka)
    const detach = this.#options.outbox.attach(this.#wakeup.notify)
    this.#log.info('outbox relay leadership acquired')
    outboxLeading.set(1)
    try {
      await this.#lead(candidate, publisher)
    } finally {
      detach()
      outboxLag.reset()
      outboxUnpublished.reset()
      outboxParked.reset()
      outboxLeading.set(0)
      await publisher.close()
    }
  }

  async #lead(candidate: Candidate, publisher: Publisher): Promise<void> {
    let failures = 0
    let housekeepingAt = 0
    let drainUntil = Number.POSITIVE_INFINITY
    while (!candidate.ended && Date.now() < drainUntil) {
      if (this.#stop.signal.aborted) drainUntil = Math.min(drainUntil, Date.now() + DRAIN_MS)
      if (Date.now() >= housekeepingAt) housekeepingAt = Date.now() + (await this.#housekeeping(candidate))
      const rows = await candidate.query(NEXT, publisher.pausedTopics(), BATCH_ROWS, BATCH_BYTES)
      if (rows.length === 0) {
        this.#failure = undefined
        if (this.#stop.signal.aborted) return
        await this.#wakeup.wait(this.#options.pollMs ?? 250)
        continue
      }
      const began = performance.now()
      try {
        const { published, refused } = await publisher.publish(rows)
        if (published.length > 0)
          await candidate.query(
            PUBLISHED,
            published.map((row) => row.position),
          )
        for (const row of published) outboxPublished.inc({ topic: row.topic })
        for (const refusal of refused) await this.#park(candidate, refusal)
        this.#failure = undefined
        failures = 0
        // A full batch means that more is waiting.
        const rest = SPACING_MS - (performance.now() - began)
        if (rest > 0 && rows.length < BATCH_ROWS) await pause(rest, this.#stop.signal)
      } catch (error) {
        if (candidate.ended || this.#stop.signal.aborted) throw error
        failures++
        this.#fail('outbox relay cannot publish', error)
        await pause(jitteredBackoff(failures, RETRY), this.#stop.signal)
      }
    }
    if (candidate.ended) throw new Error('the connection that held the lock has ended')
  }

  /**
   * The row stays, with the reason, and the queue moves on: consumers tolerate a change of order, but not a permanent
   * gap.
   */
  async #park(candidate: Candidate, { row, reason }: Refusal): Promise<void> {
    await candidate.query(REFUSED, row.position, reason)
    outboxRefused.inc({ topic: row.topic })
    this.#log.error(
      { position: row.position, id: row.id, topic: row.topic, type: row.type, reason },
      'event rejected by Kafka and parked in the outbox; fix the cause, then set refused to null',
    )
  }

  /** @returns after how many milliseconds it is due again: at once while there is more to delete. */
  async #housekeeping(candidate: Candidate): Promise<number> {
    const [backlog] = await candidate.query(BACKLOG)
    outboxUnpublished.set(backlog?.waiting ?? 0)
    outboxLag.set(backlog?.lag ?? 0)
    outboxParked.set(backlog?.parked ?? 0)
    const deleted = await candidate.query(DELETE_OLD, DELETE_ROWS)
    return deleted.length < DELETE_ROWS ? HOUSEKEEPING_MS : 0
  }

  #fail(message: string, error: unknown): void {
    this.#failure = `${message}: ${messageOf(error)}`
    if (!this.#stop.signal.aborted) this.#log.warn({ err: error }, message)
  }
}
