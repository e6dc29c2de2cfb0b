import type { Queryable, Tx } from '@restante/service/database'
import type { DirectJob } from './starting/direct-starts.ts'
import { ADVANCE_TIMERS, DELETE_IDLE_TIMERS, DELETE_TIMERS, INSERT_TIMER, UPSERT_TIMERS } from './state/statements.ts'
import type { ScheduledTimer } from './state/timer.ts'

/** How long a timer that waits in a queue is leased, unless it is renewed: then it is queued again. */
export const QUEUE_LEASE_MS = 10_000

/** A timer that was scheduled with the lease by which its first attempt claims it. */
export interface LeasedFirst extends DirectJob {
  readonly kind: string
}

/**
 * Schedules and cancels timers of one service, whichever process runs them. A process that only schedules them needs no
 * queue. `Kinds` maps each kind to the shape of its payload; the name of a kind must not contain a colon.
 */
export class Schedule<Kinds extends object> {
  /** Schedules one timer; see `scheduleAll`. */
  async schedule(tx: Tx, timer: ScheduledTimer<Kinds>): Promise<void> {
    await this.scheduleAll(tx, [timer])
  }

  /**
   * Schedules timers in the caller's transaction, in one statement. A live timer of the same kind and key is replaced:
   * its attempts start at 1 again, and a running attempt of it loses its lease. What is already due begins as soon as the
   * transaction has committed: here and without the queue as far as its kind has `direct` slots, else this process
   * polls for it.
   */
  async scheduleAll(tx: Tx, timers: readonly ScheduledTimer<Kinds>[]): Promise<void> {
    if (timers.length === 0) return
    // Of each kind and key only the last given timer, in a fixed order, so that concurrent transactions cannot deadlock
    // on them.
    const unique = new Map(timers.map((timer) => [`${timer.kind}\0${timer.key}`, timer]))
    const rows = [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, timer]) => timer)
    const leases = this.firstLeases(rows)
    const stored = await tx.query(
      UPSERT_TIMERS,
      rows.map(({ kind }) => kind),
      rows.map(({ key }) => key),
      rows.map(({ dueAt }) => dueAt?.toISOString() ?? null),
      rows.map(({ payload }) => JSON.stringify(payload)),
      rows.map(({ share = 0 }) => share),
      leases,
      QUEUE_LEASE_MS,
    )
    const ids = new Map(stored.map(({ id, lease }) => [lease, id]))
    const leased = rows.flatMap(({ kind, hasTime = false }, index): LeasedFirst[] => {
      const lease = leases[index] ?? null
      const id = ids.get(lease)
      return lease === null || id === undefined ? [] : [{ id, kind, lease, hasTime }]
    })
    if (leased.length > 0) tx.afterCommit(() => this.onLeased(leased))
    const others = rows.filter((_, index) => leases[index] === null)
    this.#notifyWhenDue(tx, others)
  }

  /**
   * Schedules a timer in the caller's transaction, unless one of its kind and key is live, which is left unchanged.
   * This is for recurring jobs: they reschedule themselves, and every process ensures on its start that they are
   * scheduled.
   */
  async scheduleIfMissing(tx: Tx, timer: ScheduledTimer<Kinds>): Promise<void> {
    const { kind, key, dueAt, payload, share = 0 } = timer
    await tx.query(INSERT_TIMER, kind, key, dueAt?.toISOString() ?? null, JSON.stringify(payload), share)
    this.#notifyWhenDue(tx, [timer])
  }

  #notifyWhenDue(tx: Tx, timers: readonly ScheduledTimer<Kinds>[]): void {
    if (timers.some(isDue)) tx.afterCommit(() => this.onDue())
  }

  /**
   * Deletes timers of a kind whose work is obsolete. It does not wait for locks: a timer whose attempt is just being
   * concluded is left to that attempt. Any other running attempt loses its lease.
   */
  async cancelIdle(tx: Tx, kind: keyof Kinds & string, keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await tx.query(DELETE_IDLE_TIMERS, kind, keys)
  }

  /**
   * Deletes timers of a kind, in the caller's transaction if `on` is one. A running attempt loses its lease.
   * @returns how many there were.
   */
  async cancel(on: Queryable, kind: keyof Kinds & string, ...keys: string[]): Promise<number> {
    return (await on.query(DELETE_TIMERS, kind, keys)).length
  }

  /**
   * Makes timers of a kind due now that wait for a later time. Their attempts so far stay counted.
   * @param dueTimes when each was to be due; one that has another time by now keeps it. Default: whenever they are due.
   */
  async advance(
    on: Queryable,
    kind: keyof Kinds & string,
    keys: readonly string[],
    dueTimes?: readonly Date[],
  ): Promise<void> {
    if (keys.length === 0) return
    await on.query(ADVANCE_TIMERS, kind, keys, dueTimes?.map((at) => at.toISOString()) ?? null)
    this.onDue()
  }

  /** Called after a commit that scheduled a timer which is already due. */
  protected onDue(): void {}

  /** Of timers that are being scheduled, the leases of those that begin with the commit, in their order; null: it takes the queue. */
  protected firstLeases(timers: readonly ScheduledTimer<Kinds>[]): (string | null)[] {
    return timers.map(() => null)
  }

  /** Called after a commit with the timers to which `firstLeases` has given leases. */
  protected onLeased(_timers: readonly LeasedFirst[]): void {}
}

/** Whether a timer that is being scheduled is due already. */
export function isDue({ dueAt }: { readonly dueAt?: Date | undefined }): boolean {
  return dueAt === undefined || dueAt.getTime() <= Date.now()
}
