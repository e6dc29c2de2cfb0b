import type { HoldScope, QueueFilter } from '@restante/contracts/internal'
import type { Timers } from '@restante/jobs'
import type { Database, Tx } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { DELIVERY_KINDS, type SendTimers } from '../../timers/kinds.ts'
import type { Decisions } from '../attempts/decisions.ts'
import { begin } from '../attempts/store.ts'
import { sendOf } from '../outbound/sends.ts'
import { type Decided, type Decision, UNDETERMINED } from '../outcome/delivery.ts'
import { addHold, endHold, type IdleRow, keysFinished, retryWaiting, takeIdle, takeOfSends } from './store.ts'

export interface DeliveryQueueOptions {
  readonly db: Database
  readonly timers: Timers<SendTimers>
  readonly decisions: Decisions
  readonly log: Logger
}

/** What one call has changed. */
export interface Batch {
  readonly count: number
  /** The batch was full, so that there may be more. */
  readonly more: boolean
}

const RETRIED_AT_ONCE = 5_000
const DROPPED_AT_ONCE = 200

/** Nothing is wrong with the address, so it is not suppressed. */
const DROPPED: Decision = {
  state: 'bounced',
  verdict: { status: '5.7.0', text: '554 5.7.0 Removed from the queue by the operator of the sending system' },
  bounce: UNDETERMINED,
}

/** As after an internal failure that lasts. */
const LOST: Decision = {
  state: 'rejected',
  verdict: { status: '5.3.0', text: 'The message could not be delivered because its content was lost.' },
}

/** What the operator changes in the queue. Running attempts are left alone: each ends with its own outcome. */
export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions

  constructor(options: DeliveryQueueOptions) {
    this.#options = options
  }

  /** Makes waiting attempts due now. What is held stays held. */
  async retry(filter: QueueFilter, operator: string): Promise<Batch> {
    const { db, timers, log } = this.#options
    const count = await retryWaiting(db, filter, RETRIED_AT_ONCE)
    timers.poke()
    log.info({ ...filter, operator, count }, 'waiting deliveries made due by the operator')
    return { count, more: count === RETRIED_AT_ONCE }
  }

  /** Bounces waiting deliveries, so that their senders learn of it. */
  async drop(filter: QueueFilter, operator: string): Promise<Batch> {
    const { db, log } = this.#options
    const { count, more } = await db.transaction(async (tx) => {
      const rows = await takeIdle(tx, filter, DROPPED_AT_ONCE)
      let dropped = 0
      for (const ofSend of Map.groupBy(rows, ({ id }) => id).values())
        dropped += await this.#endAll(tx, ofSend, DROPPED)
      await this.#cancel(tx, rows)
      return { count: dropped, more: rows.length === DROPPED_AT_ONCE }
    })
    log.warn({ ...filter, operator, count }, 'waiting deliveries dropped by the operator')
    return { count, more }
  }

  /** Ends deliveries of messages that cannot be sent, because their bytes are lost, so that their senders learn of it. */
  async reject(sendIds: readonly string[]): Promise<void> {
    await this.#options.db.transaction(async (tx) => {
      const rows = await takeOfSends(tx, sendIds)
      for (const ofSend of Map.groupBy(rows, ({ id }) => id).values()) await this.#endAll(tx, ofSend, LOST)
      await this.#cancel(tx, rows)
    })
  }

  /** Keeps a scope from being attempted, also mail that is accepted later. @returns false when it was held already. */
  async hold(scope: HoldScope, operator: string): Promise<boolean> {
    const { db, log } = this.#options
    const created = await addHold(db, scope.organization_id ?? null, scope.destination ?? null, operator)
    log.warn({ ...scope, operator, created }, 'deliveries held by the operator')
    return created
  }

  /** Ends the hold of exactly this scope. @returns false when there was none. */
  async release(scope: HoldScope, operator: string): Promise<boolean> {
    const { db, timers, log } = this.#options
    const released = await db.transaction((tx) => endHold(tx, scope.organization_id ?? null, scope.destination ?? null))
    timers.poke()
    log.warn({ ...scope, operator, released }, 'held deliveries released by the operator')
    return released
  }

  /**
   * Counting an attempt that was not made takes the deliveries from one that is just connecting: it may not begin them
   * any more.
   */
  async #endAll(tx: Tx, rows: readonly IdleRow[], decision: Decision): Promise<number> {
    const [first] = rows
    if (!first) return 0
    const open = rows.map(({ delivery_id: id, recipient, attempts, delayed, inside }) => ({
      id,
      recipient,
      attempts,
      delayed,
      inside,
      state: 'queued' as const,
    }))
    const decided = (await begin(tx, open)).map((delivery): Decided => ({ delivery, decision }))
    await this.#options.decisions.record(tx, sendOf(first), decided)
    return decided.length
  }

  async #cancel(tx: Tx, rows: readonly IdleRow[]): Promise<void> {
    const targets = new Map(
      rows.map(({ id: sendId, destination }) => [`${sendId}/${destination}`, { sendId, destination }]),
    )
    const keys = await keysFinished(tx, [...targets.values()])
    for (const kind of DELIVERY_KINDS) await this.#options.timers.cancelIdle(tx, kind, keys)
  }
}
