import { type AttemptContext, LeaseLostError, type Timers } from '@restante/jobs'
import { jitteredBackoff } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { trackingHostOf } from '../records/expected.ts'
import { lockByUid } from '../registrations/store.ts'
import { type ApplyOptions, applyChanges } from '../status/apply-changes.ts'
import { lockName } from '../status/store.ts'
import type { DomainTimers } from '../timers/kinds.ts'
import type { Authority, IssuedCertificate } from './authority/authority.ts'
import { AcmeProblemError } from './authority/errors.ts'
import type { Dropping } from './dropping.ts'
import { reasonOf } from './failures.ts'
import { ordersTotal } from './metrics.ts'
import { ISSUED, nextStep } from './rules/schedule.ts'
import type { CertificateStore } from './state/certificates.ts'
import { beginOrder, endOrder, readHost } from './state/orders.ts'
import { findCertified, findKeepers, wantsCertificate } from './state/registrations.ts'

export interface OrderingOptions {
  readonly db: Database
  readonly log: Logger
  readonly authority: Authority
  readonly certificates: CertificateStore
  readonly dropping: Dropping
  readonly applying: ApplyOptions
  /** Most orders of all replicas together. */
  readonly ordersPerHour: number
}

type Attempt = AttemptContext<DomainTimers['certificate']>

/** An order takes seconds; an authority that is busy may take minutes. */
const ATTEMPT_MS = 5 * 60_000
/** Orders of one process at once. */
const CONCURRENCY = 4
/** Of failures that are no outcome of an order, such as an outage of the database. */
const RETRY = { firstMs: 5_000, longestMs: 10 * 60_000 }

/**
 * Keeps the certificates of tracking hosts: ordered when the record is there, renewed in time, removed when they expire
 * or no registration needs them. All registrations of a name share one certificate: a name may be registered by anybody, and the
 * authority would otherwise refuse its holder because of the others' orders.
 */
export class Ordering {
  readonly #options: OrderingOptions

  constructor(options: OrderingOptions) {
    this.#options = options
  }

  /** Registers the handler. To be called before the timers start. */
  register(timers: Timers<DomainTimers>): void {
    const retry = (attempt: number) => new Date(Date.now() + jitteredBackoff(attempt, RETRY))
    const work = { concurrency: CONCURRENCY, attemptMs: ATTEMPT_MS, retry }
    timers.work('certificate', work, (attempt) => this.#proceed(attempt))
  }

  /** Takes the next step, and schedules the one after it. */
  async #proceed(attempt: Attempt): Promise<void> {
    const name = attempt.timer.key
    const { db, ordersPerHour } = this.#options
    const step = nextStep(await readHost(db, name, ordersPerHour), new Date())
    if (step.kind === 'order') return this.#order(attempt, name)
    await attempt.run(async (tx) => {
      if (step.kind === 'end' || (step.kind === 'drop' && (await this.#drop(tx, name)))) return
      if (step.kind === 'expire') await this.#expire(tx, name)
      if (step.kind === 'wait') await this.#certify(tx, name)
      // What has changed decides the step after it.
      await attempt.postpone(tx, step.kind === 'wait' ? step.until : new Date())
    })
  }

  /**
   * The order is recorded before the authority hears of it, so that no process can forget that it was made. A process
   * that dies in the middle leaves nothing: the key was in its memory only, and the next attempt orders again.
   */
  async #order(attempt: Attempt, name: string): Promise<void> {
    const { db, authority } = this.#options
    const id = await beginOrder(db, name)
    const begun = performance.now()
    try {
      const issued = await authority.issue(trackingHostOf(name), attempt.signal)
      await this.#install(attempt, name, id, issued)
      this.#report(attempt, name, begun)
    } catch (error) {
      // The timer was replaced, or the process ends: that is no outcome, and the order counts as one without.
      if (attempt.signal.aborted || error instanceof LeaseLostError) throw error
      await this.#fail(attempt, name, id, error)
      this.#report(attempt, name, begun, error)
    }
  }

  async #install(attempt: Attempt, name: string, id: string, issued: IssuedCertificate): Promise<void> {
    const { authority, certificates, dropping, db } = this.#options
    const { directory } = authority
    const unused = { directory, chain: issued.chain, not_after: issued.notAfter }
    try {
      await attempt.run(async (tx) => {
        await endOrder(tx, id, ISSUED)
        await lockName(tx, name)
        const uids = await findKeepers(tx, name)
        if (uids.length === 0) return dropping.revoke(tx, name, unused)
        const renewAt = await certificates.save(tx, name, directory, issued)
        await this.#applyToAll(tx, uids, issued.notAfter)
        await attempt.postpone(tx, renewAt)
      })
    } catch (error) {
      if (error instanceof LeaseLostError) await db.transaction((tx) => dropping.revoke(tx, name, unused))
      throw error
    }
  }

  async #fail(attempt: Attempt, name: string, id: string, error: unknown): Promise<void> {
    const retryAfterMs = error instanceof AcmeProblemError ? error.retryAfterMs : undefined
    const retryAt = retryAfterMs === undefined ? undefined : new Date(Date.now() + retryAfterMs)
    await attempt.run(async (tx) => {
      await endOrder(tx, id, reasonOf(error), retryAt)
      const step = nextStep(await readHost(tx, name, this.#options.ordersPerHour), new Date())
      await attempt.postpone(tx, step.kind === 'wait' ? step.until : new Date())
    })
  }

  /** @returns false when a registration needs the certificate again. */
  async #drop(tx: Tx, name: string): Promise<boolean> {
    await lockName(tx, name)
    const uids = await findCertified(tx, name)
    if (!(await this.#options.dropping.dropUnneeded(tx, name))) return false
    await this.#applyToAll(tx, uids, null)
    return true
  }

  async #expire(tx: Tx, name: string): Promise<void> {
    await lockName(tx, name)
    const uids = await findCertified(tx, name)
    await this.#options.certificates.deleteExpired(tx, name)
    await this.#applyToAll(tx, uids, null)
  }

  /** Installs the certificate of a name for registrations that came after it. */
  async #certify(tx: Tx, name: string): Promise<void> {
    await lockName(tx, name)
    const uids = await findKeepers(tx, name)
    const until = await this.#options.certificates.lock(tx, name)
    if (until !== undefined) await this.#applyToAll(tx, uids, until)
  }

  /** Each is read just before, because one that becomes verified changes the others. */
  async #applyToAll(tx: Tx, uids: readonly string[], until: Date | null): Promise<void> {
    const now = new Date()
    for (const uid of uids) {
      const row = await lockByUid(tx, uid)
      if (!row || row.certified_until?.getTime() === until?.getTime()) continue
      if (row.certified_until === null && !wantsCertificate(row)) continue
      await applyChanges(tx, this.#options.applying, row, { certified_until: until }, now)
    }
  }

  #report({ timer }: Attempt, name: string, begun: number, error?: unknown): void {
    const outcome = error === undefined ? ISSUED : reasonOf(error)
    ordersTotal.inc({ outcome })
    const facts = { domain: name, host: trackingHostOf(name), outcome, attempt: timer.attempt }
    const line = { ...facts, ms: Math.round(performance.now() - begun) }
    if (error === undefined) this.#options.log.info(line, 'certificate order')
    else this.#options.log.warn({ ...line, err: error }, 'certificate order')
  }
}
