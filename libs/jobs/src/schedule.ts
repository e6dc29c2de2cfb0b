import type { Queryable, Tx } from '@restante/service/database'
import { deleteIdleTimers, deleteTimers, insertTimer, upsertTimers } from './statements.ts'
import type { ScheduledTimer } from './timer.ts'

/**
 * Sets and cancels timers of one service, whichever process works on them: a process that only sets them needs no
 * queue. `Kinds` maps each kind to the shape of its payload; a kind's name has no colon.
 */
export class Schedule<Kinds extends object> {
  /** Sets one timer; see `scheduleAll`. */
  async schedule(tx: Tx, timer: ScheduledTimer<Kinds>): Promise<void> {
    await this.scheduleAll(tx, [timer])
  }

  /**
   * Sets timers in the caller's transaction, in one statement. A live timer of the same kind and key is replaced: its
   * attempts start at 1 again, and a running attempt of it loses its lease. When one is due already, this process polls
   * for it as soon as the transaction has committed.
   */
  async scheduleAll(tx: Tx, timers: readonly ScheduledTimer<Kinds>[]): Promise<void> {
    if (timers.length === 0) return
    // One per kind and key, the last one given; in a fixed order, so that transactions cannot deadlock on them.
    const unique = new Map(timers.map((timer) => [`${timer.kind}\0${timer.key}`, timer]))
    const rows = [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, timer]) => timer)
    await tx.query(
      upsertTimers,
      rows.map(({ kind }) => kind),
      rows.map(({ key }) => key),
      rows.map(({ dueAt }) => dueAt?.toISOString() ?? null),
      rows.map(({ payload }) => JSON.stringify(payload)),
    )
    this.#tellWhenDue(tx, rows)
  }

  /**
   * Sets a timer in the caller's transaction unless one of its kind and key is live, which is left unchanged: for
   * recurring jobs that reschedule themselves, and that every starting process ensures.
   */
  async scheduleIfMissing(tx: Tx, timer: ScheduledTimer<Kinds>): Promise<void> {
    const { kind, key, dueAt, payload } = timer
    await tx.query(insertTimer, kind, key, dueAt?.toISOString() ?? null, JSON.stringify(payload))
    this.#tellWhenDue(tx, [timer])
  }

  #tellWhenDue(tx: Tx, timers: readonly ScheduledTimer<Kinds>[]): void {
    const now = Date.now()
    if (timers.some(({ dueAt }) => dueAt === undefined || dueAt.getTime() <= now)) tx.afterCommit(() => this.onDue())
  }

  /**
   * Deletes timers of a kind whose work is obsolete, without waiting: those whose attempt is just being concluded are
   * left to it. A running attempt loses its lease.
   */
  async cancelIdle(tx: Tx, kind: keyof Kinds & string, keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await tx.query(deleteIdleTimers, kind, keys)
  }

  /**
   * Deletes timers of a kind, in the caller's transaction if `on` is one. A running attempt loses its lease.
   * @returns how many there were.
   */
  async cancel(on: Queryable, kind: keyof Kinds & string, ...keys: string[]): Promise<number> {
    return (await on.query(deleteTimers, kind, keys)).length
  }

  /** Called after a commit that set a timer which is due already. */
  protected onDue(): void {}
}
