import type { AttemptContext, Timers } from '@restante/jobs'
import { jitteredBackoff } from '@restante/service/concurrency'
import type { Database } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import type { DomainTimers } from '../timers/kinds.ts'
import type { Authority } from './authority/authority.ts'
import { reasonOf } from './failures.ts'
import { revocationsTotal } from './metrics.ts'
import { findRevocation, removeRevocation } from './state/revocations.ts'

export interface RevokingOptions {
  readonly db: Database
  readonly log: Logger
  readonly authority: Authority
}

const ATTEMPT_MS = 120_000
const RETRY = { firstMs: 60_000, longestMs: 6 * 60 * 60_000 }
/** About ten days of failures. */
const MOST_ATTEMPTS = 48

/** Revokes unused certificates with the key of the account. */
export class Revoking {
  readonly #options: RevokingOptions

  constructor(options: RevokingOptions) {
    this.#options = options
  }

  /** Registers the handler. To be called before the timers start. */
  register(timers: Timers<DomainTimers>): void {
    timers.work(
      'certificate-revocation',
      {
        concurrency: 2,
        attemptMs: ATTEMPT_MS,
        maxAttempts: MOST_ATTEMPTS,
        retry: (attempt) => new Date(Date.now() + jitteredBackoff(attempt, RETRY)),
        givenUp: (tx, { key }) => removeRevocation(tx, key),
      },
      (context) => this.#revoke(context),
    )
  }

  async #revoke(context: AttemptContext<DomainTimers['certificate-revocation']>): Promise<void> {
    const { db, log, authority } = this.#options
    const { key } = context.timer
    const pending = await findRevocation(db, key)
    if (!pending) return
    const { name, directory, chain, not_after } = pending
    const isRevocable = directory === authority.directory && not_after > new Date()
    if (isRevocable) await this.#revokeOf(authority, chain)
    const outcome = isRevocable ? 'revoked' : 'skipped'
    await context.run((tx) => removeRevocation(tx, key))
    revocationsTotal.inc({ outcome })
    log.info({ domain: name, directory, outcome, attempt: context.timer.attempt }, 'certificate revoked')
  }

  async #revokeOf(authority: Authority, chain: string): Promise<void> {
    try {
      await authority.revoke(chain)
    } catch (error) {
      revocationsTotal.inc({ outcome: reasonOf(error) })
      throw error
    }
  }
}
