import type { AttemptContext, Schedule } from '@restante/jobs'
import type { Database, Tx } from '@restante/service/database'
import { Counter } from 'prom-client'
import type { AskAll } from '../dns/resolvers.ts'
import { requiredKinds } from '../records/expected.ts'
import { type DomainRow, publishedKeyOf } from '../registrations/store.ts'
import { type ApplyOptions, applyChanges } from '../status/apply-changes.ts'
import { countCheck } from '../status/failing.ts'
import { nextCheck } from '../status/schedule.ts'
import { lockForChange } from '../status/store.ts'
import { type Findings, type InspectOptions, inspect } from './findings.ts'
import { countUnanswered, endLease, exists, type Leased, lease } from './store.ts'
import { type CheckTimers, scheduleCheck } from './timers.ts'

const checksTotal = new Counter({
  name: 'restante_domain_checks_total',
  help: 'Checks of custom domains by outcome (answered, partial, unanswered, repeated)',
  labelNames: ['outcome'],
})
for (const outcome of ['answered', 'partial', 'unanswered', 'repeated']) checksTotal.inc({ outcome }, 0)

/** How soon a check that finds another one running looks again. */
const BUSY_MS = 500

export interface CheckerOptions extends ApplyOptions, Omit<InspectOptions, 'ask' | 'checkSending' | 'keepsHints'> {
  readonly db: Database
  readonly timers: Schedule<CheckTimers>
  readonly checkSending: (
    row: DomainRow,
    ask: AskAll,
    signal: AbortSignal,
  ) => ReturnType<InspectOptions['checkSending']>
  /** Called in the transaction of a check, with the registration as the check leaves it. */
  readonly checked: (tx: Tx, row: DomainRow) => Promise<void>
}

export interface Pacing {
  /** How long a check is alone: longer than an attempt may take. */
  readonly leaseMs: number
  readonly askWith: (signal: AbortSignal) => AskAll
  /** Age of the schedule from which hints are kept. */
  readonly keepsHintsAfterMs: number
}

/**
 * Checks registrations. DNS is asked outside of any transaction; then one transaction writes the result, the time of the
 * next check and the end of the lease. A process that dies leaves the lease to run out, and its timer to another one.
 */
export class Checker {
  readonly #options: CheckerOptions

  constructor(options: CheckerOptions) {
    this.#options = options
  }

  /** The handler of a kind of timer. */
  handler(pacing: Pacing): (attempt: AttemptContext<Record<string, never>>) => Promise<void> {
    return async (attempt) => {
      const { db } = this.#options
      const leased = await lease(db, attempt.timer.key, pacing.leaseMs)
      if (leased) return this.#check(attempt, leased, pacing)
      if (await exists(db, attempt.timer.key)) await attempt.defer(new Date(Date.now() + BUSY_MS))
    }
  }

  async #check(attempt: AttemptContext<Record<string, never>>, leased: Leased, pacing: Pacing): Promise<void> {
    const { db, checkSending } = this.#options
    const { signal } = attempt
    try {
      const key = await publishedKeyOf(db, leased.row.uid)
      const ask = pacing.askWith(signal)
      const inspecting = {
        ...this.#options,
        ask,
        checkSending: (row: DomainRow) => checkSending(row, ask, signal),
        keepsHints: Date.now() - leased.row.scheduled_from.getTime() > pacing.keepsHintsAfterMs,
      }
      const findings = await inspect(inspecting, leased.row, key)
      signal.throwIfAborted()
      await attempt.run((tx) => this.#conclude(tx, attempt, leased, findings))
    } catch (error) {
      // Without an effect the lease would keep the next attempt waiting.
      await endLease(db, leased).catch(() => {})
      throw error
    }
  }

  async #conclude(
    tx: Tx,
    attempt: AttemptContext<Record<string, never>>,
    leased: Leased,
    findings: Findings,
  ): Promise<void> {
    const { timers, checked } = this.#options
    const now = new Date()
    const row = await lockForChange(tx, leased.row.uid)
    if (!row) return
    const isOwn = await endLease(tx, leased)
    if (!isOwn || !this.#isCurrent(row, leased.row, findings)) {
      checksTotal.inc({ outcome: 'repeated' })
      return attempt.postpone(tx, now)
    }
    const isComplete = findings.answered.length === findings.required.length
    const changed = await this.#apply(tx, row, findings, now)
    await checked(tx, changed)
    // An owner who has asked in the meantime may have published records after this check read them.
    if (row.scheduled_from.getTime() !== leased.row.scheduled_from.getTime()) return this.#again(tx, attempt, now)
    const next = nextCheck(changed, isComplete, now, Math.random())
    if (next) await scheduleCheck(tx, timers, row.uid, next)
    else if (attempt.timer.kind !== 'domain-check') await timers.cancelIdle(tx, 'domain-check', [row.uid])
  }

  /** Whether what was found still answers the question: which records are needed may have changed. */
  #isCurrent(row: DomainRow, before: DomainRow, { required }: Findings): boolean {
    return (
      String(requiredKinds(row, this.#options.installation)) === String(required) &&
      row.allow_conflicting_provider === before.allow_conflicting_provider
    )
  }

  async #apply(tx: Tx, row: DomainRow, findings: Findings, now: Date): Promise<DomainRow> {
    const { required, answered, records, sending } = findings
    if (answered.length === 0) {
      checksTotal.inc({ outcome: 'unanswered' })
      await countUnanswered(tx, row.uid)
      return { ...row, checks: row.checks + 1 }
    }
    checksTotal.inc({ outcome: answered.length === required.length ? 'answered' : 'partial' })
    const failing = row.status === 'VERIFIED' ? countCheck(row, { required, records, answered }, now) : {}
    const changes = {
      records,
      checked_at: now,
      checks: row.checks + 1,
      ...failing,
      ...(sending && { sending_checks: sending }),
    }
    return applyChanges(tx, this.#options, row, changes, now)
  }

  async #again(tx: Tx, attempt: AttemptContext<Record<string, never>>, now: Date): Promise<void> {
    if (attempt.timer.kind === 'domain-verify') return attempt.postpone(tx, now)
    await scheduleCheck(tx, this.#options.timers, attempt.timer.key)
  }
}
