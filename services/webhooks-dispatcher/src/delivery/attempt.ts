import { LIMITS } from '@restante/contracts/vocabulary'
import { type AttemptContext, SharedEffect } from '@restante/jobs'
import { Batcher, KeyedMutex } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import type { GuardedFetch } from '@restante/service/outbound'
import type { SecretBox } from '@restante/service/secrets'
import { inSpan, type Logger, type WorkSpan } from '@restante/service/telemetry'
import { type LogEntry, type LoggedAttempt, type LoggedState, logAttempts, logGone } from '../log/store.ts'
import type { Warnings } from '../warnings/warnings.ts'
import { isKept, type MailboxOptions } from './mailbox.ts'
import { signRequest } from './request.ts'
import { type Failure, failureOf } from './rules/failure.ts'
import { afterFailure, hasMoved } from './rules/failure-clock.ts'
import { nextAttempt } from './rules/schedule.ts'
import { openHeaders, openSecret } from './secrets.ts'
import { InFlight, type Postponed } from './slots/in-flight.ts'
import {
  disableWebhook,
  dropOfDisabled,
  endDeliveries,
  findPending,
  lockFailureClock,
  type PendingDelivery,
  recordFailedAttempt,
  saveFailureClock,
  stopFailureClocks,
} from './store.ts'
import { attemptSeconds, attemptsTotal, type Decision, firstAttemptDelay } from './telemetry.ts'
import type { TimerKinds } from './timers.ts'

type Attempt = AttemptContext<TimerKinds['webhook-delivery']>

export interface DelivererOptions extends MailboxOptions {
  readonly db: Database
  readonly outbound: GuardedFetch
  readonly box: SecretBox
  readonly log: Logger
  readonly warnings: Warnings
  /** Requests at once of the queue, and as many more of first attempts. */
  readonly concurrency: number
  /** Makes deliveries due now that wait for the times that they were given. */
  readonly advance: (postponed: readonly Postponed[]) => Promise<void>
}

/** Outcome of one request. */
type Outcome =
  | { readonly delivered: true; readonly status: number }
  | ({ readonly delivered: false; readonly status?: number } & Failure)

/** A request takes at most the delivery timeout; the rest is for an outage of the database, in which its answer is kept. */
export const ATTEMPT_MS = 120_000

/**
 * Requests at once of one organization, as a share of the concurrency: fewer than the workers for first attempts, and than those
 * of the queue, so that its slow webhooks occupy neither, however many it has.
 */
const SHARE_OF_ORGANIZATION = 0.75

/** Deliveries that one statement reads, with their documents. */
const READ_TOGETHER = 20
const READS_AT_ONCE = 2

/** Makes the attempts of deliveries: at least once each, with the same id and bytes every time. */
export class Deliverer {
  readonly #deps: DelivererOptions
  readonly #ofWebhooks = new InFlight(LIMITS.webhook.inFlight)
  readonly #ofOrganizations: InFlight
  /** Failures of one webhook are concluded one after the other: this way they hold one connection instead of all. */
  readonly #failures = new KeyedMutex({ timeoutMs: ATTEMPT_MS })
  readonly #pending: Batcher<string, PendingDelivery | undefined>
  readonly #delivered: SharedEffect<LogEntry>

  constructor(deps: DelivererOptions) {
    this.#deps = deps
    const most = Math.floor(deps.concurrency * SHARE_OF_ORGANIZATION)
    this.#ofOrganizations = new InFlight(Math.max(LIMITS.webhook.inFlight, most))
    this.#pending = new Batcher({
      maxItems: READ_TOGETHER,
      concurrency: READS_AT_ONCE,
      work: async (ids) => {
        const found = new Map((await findPending(deps.db, ids)).map((delivery) => [delivery.id, delivery]))
        return ids.map((id) => found.get(id))
      },
    })
    this.#delivered = new SharedEffect(deps.db, concludeDelivered)
  }

  /**
   * Makes one attempt. After a crash between the response and the commit the receiver gets the same event again under
   * the same id: delivery is at least once. During a short outage of the database the outcome is recorded as soon as
   * that is possible, as long as the attempt has time.
   */
  readonly attempt = async (attempt: Attempt): Promise<void> => {
    const delivery = await this.#find(attempt)
    if (!delivery) return
    const leave = await this.#enter(delivery)
    if (leave instanceof Date) {
      await attempt.defer(leave)
      return
    }
    try {
      await inSpan('deliver webhook', attempt.timer.payload.traceparent, (span) =>
        this.#makeOfKept(attempt, delivery, leave, span),
      )
    } finally {
      leave()
    }
  }

  /** @returns undefined when the delivery has ended. */
  async #find(attempt: Attempt): Promise<PendingDelivery | undefined> {
    const delivery = await this.#pending.add(attempt.timer.key)
    if (!delivery || delivery.enabled) return delivery
    await attempt.run((tx) => endGone(tx, delivery))
    return undefined
  }

  /** Of a delivery that was asked for, the inbox and the message must exist. */
  async #makeOfKept(attempt: Attempt, delivery: PendingDelivery, leave: () => void, span: WorkSpan): Promise<void> {
    const { organization_id: organizationId, message_inbox_uid: inboxUid, message_id: messageId } = delivery
    if (inboxUid === null) return this.#make(attempt, delivery, leave, span)
    const about = { inboxUid, messageId: messageId ?? undefined }
    if (!(await isKept(this.#deps, organizationId, about))) return attempt.run((tx) => endGone(tx, delivery))
    // The answer may have taken seconds, and the webhook may have ended since.
    const current = await this.#find(attempt)
    if (current) await this.#make(attempt, current, leave, span)
  }

  async #make(attempt: Attempt, delivery: PendingDelivery, leave: () => void, span: WorkSpan): Promise<void> {
    const begun = performance.now()
    if (delivery.attempts === 0)
      firstAttemptDelay.observe(Math.max(0, Date.now() - delivery.created_at.getTime()) / 1_000)
    const outcome = await this.#send(delivery, attempt.signal)
    const seconds = (performance.now() - begun) / 1000
    // A failure is concluded under the lock of its webhook, in its slot: else one that fails could occupy every worker.
    if (outcome.delivered) leave()
    const decision = await this.#conclude(attempt, delivery, outcome, attemptOf(outcome, seconds))
    attemptsTotal.inc({ decision })
    span.note({
      'restante.delivery': delivery.id,
      'restante.attempt': delivery.attempts + 1,
      'restante.decision': decision,
    })
    if (!outcome.delivered) span.fail()
    attemptSeconds.observe(seconds)
    this.#report(delivery, outcome, decision, seconds)
    if (decision === 'disabled') await dropOfDisabled(this.#deps.db, delivery.webhook_id)
  }

  /** @returns what leaves the slots that were entered, where twice has one effect; or when there may be free ones. */
  async #enter({ id, webhook_id, organization_id }: PendingDelivery): Promise<(() => void) | Date> {
    if (!(await this.#ofWebhooks.enterSoon(webhook_id, id)))
      return this.#ofWebhooks.postpone(webhook_id, id, Date.now())
    if (!(await this.#ofOrganizations.enterSoon(organization_id, id))) {
      this.#ofWebhooks.giveBack(webhook_id)
      return this.#ofOrganizations.postpone(organization_id, id, Date.now())
    }
    const entered = performance.now()
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const ms = performance.now() - entered
      this.#advance([...this.#ofWebhooks.leave(webhook_id, ms), ...this.#ofOrganizations.leave(organization_id, ms)])
    }
  }

  /** Postponed deliveries come at their own time where they cannot be advanced. */
  #advance(postponed: readonly Postponed[]): void {
    if (postponed.length === 0) return
    const { advance, log } = this.#deps
    advance(postponed).catch((error: unknown) => log.debug({ err: error }, 'postponed deliveries were not advanced'))
  }

  async #send(delivery: PendingDelivery, signal: AbortSignal): Promise<Outcome> {
    const { outbound, box } = this.#deps
    const secret = openSecret(box, delivery.webhook_id, delivery.secret)
    const custom = delivery.headers ? openHeaders(box, delivery.webhook_id, delivery.headers) : {}
    const { headers, body } = signRequest(delivery, secret, custom, new Date())
    try {
      const { status } = await outbound.fetch(delivery.url, {
        method: 'POST',
        headers,
        body,
        timeoutMs: LIMITS.webhook.timeout,
        maxBytes: LIMITS.webhook.responseBytes,
        read: 'beginning',
        signal,
      })
      return status >= 200 && status < 300 ? { delivered: true, status } : { delivered: false, status, error: 'status' }
    } catch (error) {
      return { delivered: false, ...failureOf(error, delivery.created_at) }
    }
  }

  async #conclude(
    attempt: Attempt,
    delivery: PendingDelivery,
    outcome: Outcome,
    made: LoggedAttempt,
  ): Promise<Decision> {
    if (!outcome.delivered) {
      const { isLast = false } = outcome
      const conclude = () => attempt.run((tx) => this.#concludeFailed(tx, attempt, delivery, { made, isLast }))
      return this.#failures.run(delivery.webhook_id, conclude)
    }
    await attempt.share(this.#delivered, { delivery, attempt: made, state: 'delivered', nextAttemptAt: undefined })
    return 'delivered'
  }

  async #concludeFailed(
    tx: Tx,
    attempt: Attempt,
    delivery: PendingDelivery,
    { made, isLast }: { readonly made: LoggedAttempt; readonly isLast: boolean },
  ): Promise<Decision> {
    const now = new Date()
    const [clock, failures] = await Promise.all([
      lockFailureClock(tx, delivery.webhook_id),
      recordFailedAttempt(tx, delivery.id),
    ])
    if (!clock) return 'dropped'
    const { disable, warn, ...next } = afterFailure(clock, now)
    const log = (state: LoggedState, nextAttemptAt?: Date) =>
      logAttempts(tx, [{ delivery, attempt: made, state, nextAttemptAt }])
    if (failures === undefined) {
      // The webhook was disabled during the request, and is enabled again.
      await log('dropped')
      return 'dropped'
    }
    if (disable || warn)
      await this.#deps.warnings.note(tx, { ...delivery, failingSince: clock.failingSince ?? now, disabled: disable })
    if (disable) {
      await log('dropped')
      await disableWebhook(tx, delivery.webhook_id)
      return 'disabled'
    }
    const retryAt = isLast ? undefined : nextAttempt(failures, now, Math.random())
    await Promise.all([
      hasMoved(clock, next) && saveFailureClock(tx, delivery.webhook_id, next),
      log(retryAt ? 'retrying' : 'failed', retryAt),
      retryAt ? attempt.postpone(tx, retryAt) : endDeliveries(tx, [delivery]),
    ])
    return retryAt ? 'retry' : 'given_up'
  }

  #report(delivery: PendingDelivery, outcome: Outcome, decision: Decision, seconds: number): void {
    const facts = {
      delivery_id: delivery.id,
      webhook_id: delivery.webhook_id,
      organization_id: delivery.organization_id,
      event_id: delivery.event_id,
      event_type: delivery.event_type,
      attempt: delivery.attempts + 1,
      status: outcome.status,
      ...(outcome.delivered ? {} : { error: outcome.error }),
      decision,
      ms: Math.round(seconds * 1000),
    }
    if (decision === 'disabled') this.#deps.log.warn(facts, 'webhook disabled after days of failures only')
    else this.#deps.log.info(facts, 'webhook attempt')
  }
}

async function endGone(tx: Tx, delivery: PendingDelivery): Promise<void> {
  await endDeliveries(tx, [delivery])
  await logGone(tx, delivery.id)
}

async function concludeDelivered(tx: Tx, entries: readonly LogEntry[]): Promise<void> {
  const deliveries = entries.map(({ delivery }) => delivery)
  const webhooks = [...new Set(deliveries.map(({ webhook_id }) => webhook_id))]
  await Promise.all([stopFailureClocks(tx, webhooks), endDeliveries(tx, deliveries), logAttempts(tx, entries)])
}

/** The request that has just ended. */
function attemptOf(outcome: Outcome, seconds: number): LoggedAttempt {
  return {
    attempted_at: new Date(Date.now() - seconds * 1_000).toISOString(),
    latency_ms: Math.round(seconds * 1_000),
    ...(outcome.status !== undefined && { http_status: outcome.status }),
    ...(!outcome.delivered && { error: outcome.error }),
  }
}
