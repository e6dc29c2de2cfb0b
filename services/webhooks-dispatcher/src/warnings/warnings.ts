import { randomUUID } from 'node:crypto'
import type { AttemptContext, Schedule, WorkOptions } from '@restante/jobs'
import { backoff } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { addNotice, claimedNotices, claimNotices, endMail, lockWarnings, mailableAt, type NewNotice } from './store.ts'
import { warningText } from './text.ts'

/** The timer of the next mail to the human of an organization, which is its key. */
export interface WarningTimerKinds {
  readonly 'webhook-warning': { readonly mail_id: string }
}

export interface WarningsOptions {
  readonly db: Database
  readonly log: Logger
  readonly gateway: ServiceClient<'webhooks-dispatcher'>
  readonly schedule: Schedule<WarningTimerKinds>
}

const RETRY = { firstMs: 5_000, longestMs: 300_000 }

/**
 * Mails to the verified human of an organization that a webhook fails or was disabled (events 8.4), at most one a day
 * with all that was noted by then. A notice is committed with the failure that it is about, and each mail has an id that
 * its timer carries, so that a crash at any point neither loses nor doubles it.
 */
export class Warnings {
  readonly #deps: WarningsOptions
  readonly work: WorkOptions<WarningTimerKinds['webhook-warning']> = {
    concurrency: 2,
    attemptMs: 60_000,
    retry: (attempt) => new Date(Date.now() + backoff(attempt, RETRY)),
  }

  constructor(deps: WarningsOptions) {
    this.#deps = deps
  }

  /** Notes it in the transaction that counts the failure, which has locked the webhook. */
  async note(tx: Tx, notice: NewNotice): Promise<void> {
    const key = notice.organization_id
    await lockWarnings(tx, key)
    await addNotice(tx, notice)
    await this.#deps.schedule.scheduleIfMissing(tx, {
      kind: 'webhook-warning',
      key,
      payload: { mail_id: randomUUID() },
    })
  }

  readonly mail = async (attempt: AttemptContext<WarningTimerKinds['webhook-warning']>): Promise<void> => {
    const { db, log, gateway, schedule } = this.#deps
    const { key: organizationId, payload } = attempt.timer
    const { mail_id: mailId } = payload
    const mailableLater = await mailableAt(db, organizationId)
    if (mailableLater) return attempt.defer(mailableLater)
    await claimNotices(db, organizationId, mailId)
    const webhooks = await claimedNotices(db, organizationId, mailId)
    const { mailed } =
      webhooks.length === 0
        ? { mailed: false }
        : await gateway.call('gateway.mailHuman', {
            id: mailId,
            organization_id: organizationId,
            ...warningText(webhooks),
          })
    await attempt.run(async (tx) => {
      await lockWarnings(tx, organizationId)
      if (!(await endMail(tx, organizationId, mailId, mailed))) return
      await schedule.schedule(tx, { kind: 'webhook-warning', key: organizationId, payload: { mail_id: randomUUID() } })
    })
    log.info({ organization_id: organizationId, webhooks: webhooks.length, mailed }, 'webhook warning concluded')
  }
}
