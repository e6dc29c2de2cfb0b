import type { Timers } from '@restante/jobs'
import { jitteredBackoff } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import type { Handlers } from '@restante/service/http'
import type { KeyRing } from '@restante/service/secrets'
import { SharedPace } from '../dns/pace.ts'
import type { Resolvers } from '../dns/resolvers.ts'
import type { MailboxProvider } from '../providers/table.ts'
import type { DomainRow } from '../registrations/store.ts'
import { returnHosts } from '../sending-checks/return-hosts.ts'
import { checkSending } from '../sending-checks/sending-checks.ts'
import type { ApplyOptions } from '../status/apply-changes.ts'
import { Checker, type Pacing } from './checker.ts'
import { verifyRoutes } from './routes.ts'
import type { CheckTimers } from './timers.ts'
import type { ProbeTarget } from './variables.ts'

export interface ChecksOptions extends ApplyOptions {
  readonly db: Database
  readonly timers: Timers<CheckTimers>
  readonly ring: KeyRing
  readonly resolvers: Resolvers
  readonly providers: readonly MailboxProvider[]
  /** Called in the transaction of a check, with the registration as the check leaves it. */
  readonly checked: (tx: Tx, row: DomainRow) => Promise<void>
}

export interface CheckSettings {
  readonly checkQueriesPerSecond: number
  readonly outboundAddresses: readonly string[]
  readonly returnProbe: ProbeTarget | 'off' | undefined
}

/** Checks of one process at once wait most of their time. Scheduled ones wait for the pace, which all processes share. */
const SCHEDULED = { concurrency: 4, attemptMs: 110_000, leaseMs: 120_000 }
/**
 * Those that an owner waits for are many, so that name servers that are as slow as they can be do not hold up the domains
 * of others. Such a check takes half a minute: two questions of 4 s, then SPF, which has 20 s.
 */
const REQUESTED = { concurrency: 16, attemptMs: 45_000, leaseMs: 50_000 }
/** In this time an owner who publishes records looks at what each check says. */
const KEEPS_HINTS_AFTER_MS = 60 * 60_000
const OWN_FAILURE = { firstMs: 2_000, longestMs: 60_000 }

/** Registers the work of checks with the timers. @returns the operations on them. */
export function openChecks(
  options: ChecksOptions,
  settings: CheckSettings,
): Pick<Handlers<'domains-dns'>, 'domains.verify'> {
  const { db, timers, ring, resolvers, installation } = options
  const { outboundAddresses, returnProbe = { host: installation.returnHost, port: 25 } } = settings
  const sending = {
    db,
    ring,
    installation,
    outboundAddresses,
    hosts: returnProbe === 'off' ? undefined : returnHosts(resolvers, returnProbe),
  }
  const checker = new Checker({
    ...options,
    quorum: resolvers.quorum,
    checkSending: (row, ask, signal) => checkSending(sending, row, ask, signal),
  })
  const pace = new SharedPace(db, settings.checkQueriesPerSecond)
  const work = (kind: keyof CheckTimers, limits: typeof SCHEDULED, pacing: Pacing) =>
    timers.work(
      kind,
      {
        concurrency: limits.concurrency,
        attemptMs: limits.attemptMs,
        retry: (attempt) => new Date(Date.now() + jitteredBackoff(attempt, OWN_FAILURE)),
      },
      checker.handler(pacing),
    )
  work('domain-check', SCHEDULED, {
    leaseMs: SCHEDULED.leaseMs,
    askWith: (signal) => resolvers.pacedBy(pace, signal),
    keepsHintsAfterMs: KEEPS_HINTS_AFTER_MS,
  })
  work('domain-verify', REQUESTED, {
    leaseMs: REQUESTED.leaseMs,
    askWith: () => (question) => resolvers.askAll(question),
    keepsHintsAfterMs: Number.POSITIVE_INFINITY,
  })
  return verifyRoutes(options)
}
