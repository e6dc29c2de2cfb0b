import { pause, Wakeup } from '@restante/service/concurrency'
import type { Queryable } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { KEEP_LEASES, LEASE_DUE, type LeasedTimer, MEASURE_LAG, RELEASE_LEASES } from '../state/statements.ts'
import { timerLag, timersLeased } from '../state/telemetry.ts'
import { jobId, type QueuedTimer, type Queues, QueueUnavailableError, type TimerJob } from './queues.ts'

export interface PollerOptions {
  readonly db: Queryable
  readonly queues: Queues
  readonly log: Logger
  readonly pollMs: number
  /**
   * How long the lease of a queued timer lasts. It is renewed while the timer waits in the queue; a timer that the
   * queue has lost is queued again when it runs out.
   */
  readonly queueLeaseMs: number
  /** Jobs of each kind that may wait in the queue; the rest waits in PostgreSQL. */
  readonly backlog: ReadonlyMap<string, number>
  /** Shares of each kind. */
  readonly shares: ReadonlyMap<string, number>
}

const BATCH = 500
/**
 * Shortest time between two polls. A timer that comes alone is found at once; of many, those of the same moment share a
 * poll, and then the statements of their attempts.
 */
const SPACING_MS = 10
/** While a queue is full, polls are this many times as frequent, so that fast work does not wait for the next poll. */
const FASTER_WHEN_FULL = 10
const MEASURE_EVERY_MS = 10_000
/**
 * The loop is considered dead after this long without a tick; the time limits of all steps of a tick are well below.
 */
const SILENCE_MS = 15_000
/** Grace period after a database outage in which live workers may renew expired leases before others take them. */
const GRACE_MS = 5_000

/** Moves due timers from the table to the queues, continuously. Any number of processes may do so concurrently. */
export class Poller {
  readonly #options: PollerOptions
  #loop: Promise<void> = Promise.resolve()
  readonly #stop = new AbortController()
  readonly #wakeup = new Wakeup()
  #failing = false
  #lastTick = Date.now()
  #measured = 0
  #troubledAt = Number.NEGATIVE_INFINITY
  #keptAt = Date.now()
  /** Timers that this process has put into the queue and that, as far as it knows, are still there, by kind. */
  readonly #queued: Map<string, QueuedTimer[]>

  constructor(options: PollerOptions) {
    this.#options = options
    this.#queued = new Map([...options.backlog.keys()].map((kind) => [kind, []]))
  }

  start(): void {
    this.#lastTick = Date.now()
    this.#loop = this.#run()
  }

  /** Polls for due timers now instead of at the next tick. */
  poke(): void {
    this.#wakeup.notify()
  }

  /**
   * Queues timers whose first attempt has not begun, before all that wait there: as many as there is room for in a queue
   * twice as long as others fill it. They have leases already.
   * @returns those for which there is no room.
   * @throws QueueUnavailableError: some may have been queued.
   */
  async putFirst(kind: string, jobs: readonly TimerJob[]): Promise<readonly TimerJob[]> {
    const { queues, backlog } = this.#options
    const room = Math.max(0, 2 * (backlog.get(kind) ?? 0) - (await queues.waiting(kind)))
    const timers = jobs.slice(0, room).map(({ id, lease }) => ({ id, lease, attempt: 0 }))
    if (timers.length > 0) await queues.addFirst(kind, timers)
    this.#queued.get(kind)?.push(...timers)
    return jobs.slice(room)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wakeup.notify()
    await this.#loop
  }

  /** @throws Error when the loop has stopped ticking. An outage of Redis does not stop it. */
  alive(): void {
    const silence = Date.now() - this.#lastTick
    if (silence > SILENCE_MS) throw new Error(`due timers were not polled for ${Math.round(silence / 1000)} s`)
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const began = performance.now()
      const full = await this.#tick()
      const rest = SPACING_MS - (performance.now() - began)
      if (rest > 0) await pause(rest, this.#stop.signal)
      const { pollMs } = this.#options
      await this.#wakeup.wait(full ? pollMs / FASTER_WHEN_FULL : pollMs)
    }
  }

  /** @returns whether a queue is full, so that more timers may be due than it could take. */
  async #tick(): Promise<boolean> {
    try {
      await this.#keep()
      const full = await this.#move()
      await this.#measure()
      this.#lastTick = Date.now()
      this.#failing = false
      return full
    } catch (error) {
      // `Queues` logs an outage of Redis once; the loop is alive all the same.
      if (error instanceof QueueUnavailableError) {
        this.#lastTick = Date.now()
        this.#failing = false
        return false
      }
      if (!this.#failing) this.#options.log.error({ err: error }, 'polling for due timers failed')
      this.#failing = true
      this.#troubledAt = Date.now()
      return false
    }
  }

  async #move(): Promise<boolean> {
    const { db, queues, queueLeaseMs, backlog, shares } = this.#options
    const room = await this.#room()
    if (room.size === 0) return true
    const takeOver = Date.now() - this.#troubledAt > GRACE_MS
    const sharesOf = [...room.keys()].map((kind) => shares.get(kind) ?? 1)
    const leased = await db.query(LEASE_DUE, [...room.keys()], [...room.values()], sharesOf, queueLeaseMs, takeOver)
    const byKind = Map.groupBy(leased, ({ kind }) => kind)
    const taken = new Map([...byKind].map(([kind, timers]) => [kind, timers.length]))
    try {
      for (const [kind, timers] of byKind) {
        await queues.add(kind, timers.sort(byTurn))
        timersLeased.inc({ kind }, timers.length)
        this.#queued.get(kind)?.push(...timers)
        byKind.delete(kind)
      }
    } catch (error) {
      await this.#release([...byKind.values()].flat())
      throw error
    }
    return [...backlog.keys()].some((kind) => isFull(room.get(kind) ?? 0, taken.get(kind) ?? 0, shares.get(kind) ?? 1))
  }

  /**
   * Renews the leases of timers that wait in the queue, so that each is queued only once and keeps its place, however
   * long the queue is. Timers that have left the queue are with a worker or lost; their leases are left to run out.
   */
  async #keep(): Promise<void> {
    const { db, queues, queueLeaseMs } = this.#options
    if (Date.now() - this.#keptAt < queueLeaseMs / 3) return
    this.#keptAt = Date.now()
    for (const [kind, queued] of this.#queued) {
      if (queued.length === 0) continue
      const known = [...queued]
      const waiting = await queues.waitingJobs(kind)
      const kept = known.filter((timer) => waiting.has(jobId(timer)))
      // Others may have been queued meanwhile.
      this.#queued.set(kind, [...kept, ...queued.slice(known.length)])
      if (kept.length === 0) continue
      await db.query(
        KEEP_LEASES,
        kept.map(({ id }) => id),
        kept.map(({ lease }) => lease),
        queueLeaseMs,
      )
    }
  }

  /** How many timers of each kind the queues can accept now. */
  async #room(): Promise<Map<string, number>> {
    const { queues, backlog } = this.#options
    const kinds = await Promise.all(
      [...backlog].map(
        async ([kind, limit]): Promise<[string, number]> => [
          kind,
          Math.min(BATCH, limit - (await queues.waiting(kind))),
        ],
      ),
    )
    return new Map(kinds.filter(([, room]) => room > 0))
  }

  /**
   * Releases the leases of timers that could not be queued. Some may be in the queue after all; their jobs find the
   * lease gone and are skipped.
   */
  async #release(timers: LeasedTimer[]): Promise<void> {
    const ids = timers.map(({ id }) => id)
    const leases = timers.map(({ lease }) => lease)
    // If this fails too, the leases run out.
    await this.#options.db.query(RELEASE_LEASES, ids, leases).catch(() => {})
  }

  async #measure(): Promise<void> {
    if (Date.now() - this.#measured < MEASURE_EVERY_MS) return
    this.#measured = Date.now()
    const kinds = [...this.#options.backlog.keys()]
    const late = new Map((await this.#options.db.query(MEASURE_LAG, kinds)).map(({ kind, seconds }) => [kind, seconds]))
    for (const kind of kinds) timerLag.set({ kind }, late.get(kind) ?? 0)
  }
}

/** Several shares may leave room although more is due, because none gets all of it. */
function isFull(room: number, taken: number, shares: number): boolean {
  return shares === 1 ? taken === room : taken >= Math.min(room, 10)
}

function byTurn(a: LeasedTimer, b: LeasedTimer): number {
  return a.turn - b.turn || a.dueAt.getTime() - b.dueAt.getTime()
}
