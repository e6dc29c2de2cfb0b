import { LIMITS } from '@restante/contracts'
import { type Logger, outlast, type Part } from '@restante/service'
import { revokeCredentials } from './credentials/store.ts'
import type { Db, Tx } from './database.ts'
import type { TenancyEvents } from './tenancy/events.ts'
import type { GatewayTimers } from './timers.ts'

const EVERY_MS = 3_600_000
const FIRST_AFTER_MS = 60_000
/** Keys per transaction; what remains waits for the next round. */
const KEYS = 500
const DAY_MS = 86_400_000

/** Removes what has served its time: keys 30 days after their expiry, expired codes, throttle marks, freed addresses. */
export function sweepHourly(timers: GatewayTimers, deps: { db: Db; events: TenancyEvents }): void {
  const retry = (): Date => new Date(Date.now() + EVERY_MS)
  timers.work('sweep', { concurrency: 1, attemptMs: 60_000, retry }, async ({ run, postpone }) => {
    await run(async (tx) => {
      await sweep(tx, deps.events, new Date())
      await postpone(tx, new Date(Date.now() + EVERY_MS), {})
    })
  })
}

/**
 * Sets the one timer of the sweep where there is none yet: if each process that starts put it off, a process that starts
 * again and again would keep it from ever being due. One that starts while the database is away serves what it can
 * meanwhile.
 */
export class SweepSchedule implements Part {
  readonly name = 'sweep'
  readonly #timers: GatewayTimers
  readonly #db: Db
  readonly #log: Logger
  readonly #stop = new AbortController()
  #scheduling: Promise<void> = Promise.resolve()

  constructor(options: { timers: GatewayTimers; db: Db; log: Logger }) {
    this.#timers = options.timers
    this.#db = options.db
    this.#log = options.log
  }

  async start(): Promise<void> {
    this.#scheduling = outlast(this.#stop.signal, () => this.#schedule()).catch((error: unknown) =>
      this.#log.error({ err: error }, 'the sweep was not scheduled'),
    )
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#scheduling
  }

  #schedule(): Promise<void> {
    const dueAt = new Date(Date.now() + FIRST_AFTER_MS)
    return this.#db.transaction((tx) =>
      this.#timers.scheduleIfMissing(tx, { kind: 'sweep', key: 'all', dueAt, payload: {} }),
    )
  }
}

async function sweep(tx: Tx, events: TenancyEvents, now: Date): Promise<void> {
  const orm = await tx.orm()
  const unlisted = await orm.credential.findMany({
    where: { expiresAt: { lt: new Date(now.getTime() - LIMITS.apiKey.listedAfterExpiry) } },
    select: { id: true },
    take: KEYS,
  })
  await revokeCredentials(tx, events, { id: { in: unlisted.map((row) => row.id) } }, now)
  await orm.verificationCode.deleteMany({ where: { expiresAt: { lt: now } } })
  await orm.codeMail.deleteMany({ where: { createdAt: { lt: new Date(now.getTime() - DAY_MS) } } })
  await orm.retiredAddress.deleteMany({ where: { until: { lt: now } } })
}
