import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Counter } from 'prom-client'
import { type DayOfOrganization, daysOfOrganizations, markWarned, resetCounts } from './counts.ts'
import { type Finding, findingOf, type Thresholds } from './thresholds.ts'

export const reputationFindings = new Counter({
  name: 'restante_reputation_findings_total',
  help: 'Organizations warned about, once a day each, or suspended, by the rate that was too high',
  labelNames: ['consequence', 'rate'],
})
// A suspension is rare: a series that began with the first one would hide it from `increase()`.
for (const consequence of ['warn', 'suspend'])
  for (const rate of ['bounce', 'complaint']) reputationFindings.inc({ consequence, rate }, 0)

export interface ReputationOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'mail-send'>
  readonly log: Logger
  readonly thresholds: Thresholds
  /** Recipients within a day below which no rate says anything. */
  readonly minimum: number
  /** Whether organizations are suspended, or only warned about. */
  readonly suspends: boolean
  readonly everyMs: number
}

const DAY_MS = 24 * 3_600_000

/**
 * Judges the rates of bounces and complaints of each organization, again and again (mail 15.3). It keeps no state that a
 * crash could lose: what is above a threshold is above it at the next look, too. The gateway owns organizations and suspends
 * them. It also knows when the operator last resumed one; only mail after that counts.
 */
export class Reputation extends Periodic {
  readonly #options: ReputationOptions

  constructor(options: ReputationOptions) {
    const { everyMs, log } = options
    super({ name: 'reputation', everyMs, log, work: (stopping) => this.judge(stopping) })
    this.#options = options
  }

  /** Looks once at every organization. */
  async judge(stopping?: AbortSignal): Promise<void> {
    const { db, log, thresholds, minimum, suspends } = this.#options
    for (const day of await daysOfOrganizations(db, minimum)) {
      if (stopping?.aborted) return
      const finding = findingOf(thresholds, day)
      if (!finding) continue
      try {
        if (finding.consequence === 'suspend' && suspends) await this.#suspend(day, finding)
        else await this.#warn(day, finding)
      } catch (error) {
        // The others are looked at, and this one again at the next look.
        log.warn({ err: error, organization: day.organizationId }, 'reputation could not be acted upon')
      }
    }
  }

  async #warn(day: DayOfOrganization, finding: Finding): Promise<void> {
    const isNew = await this.#options.db.transaction((tx) => markWarned(tx, day.organizationId))
    if (isNew) this.#report('organization bounces or complaints above the warning threshold', day, finding, 'warn')
  }

  async #suspend(day: DayOfOrganization, finding: Finding): Promise<void> {
    const { db, gateway, log } = this.#options
    const { organizationId, resetAt } = day
    const since = new Date(Math.max(Date.now() - DAY_MS, resetAt?.getTime() ?? 0))
    const request = { organization_id: organizationId, counted_since: since.toISOString() }
    const answer = await gateway.call('gateway.suspendOrganization', request)
    if (answer.outcome === 'suspended') {
      this.#report('organization suspended for its bounces or complaints', day, finding, 'suspend')
    } else if (answer.outcome === 'resumed') {
      await db.transaction((tx) => resetCounts(tx, organizationId, answer.resumed_at))
      log.info({ organization: organizationId }, 'reputation counted anew since the operator resumed the organization')
    }
  }

  #report(text: string, day: DayOfOrganization, { rate, value }: Finding, consequence: Finding['consequence']): void {
    const { organizationId: organization, sent, bounced, complained } = day
    reputationFindings.inc({ consequence, rate })
    this.#options.log.warn({ organization, rate, value, sent, bounced, complained }, text)
  }
}
