import type { DomainStatus } from '@restante/contracts/vocabulary'
import { DKIM_GRACE_MS } from './sending-ready.ts'
import { CONVERGENCE_MS } from './standing.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Checks after creation, an update or a request to verify (domains 7.2). */
const OFFSETS = [0, 30 * SECOND, ...[1, 2, 5, 10, 20, 40].map((minutes) => minutes * MINUTE)]
const HOURLY_UNTIL = DAY
/** Age of the schedule at which checks of a registration that is not verified end. */
export const AUTOMATIC_UNTIL = 14 * DAY
const SELDOM = 6 * HOUR
/** Extra checks of a verified domain after the first that failed; then at the last interval until it is decided. */
const FAILING_OFFSETS = [5 * MINUTE, 20 * MINUTE, 60 * MINUTE]
const FAILING_EVERY = 20 * MINUTE
/** Intervals of hours vary by a tenth, so that domains that were registered together are not checked together. */
const JITTER = 0.1
/** The first check after one without an answer; later ones wait longer, as the outage lasts longer. */
const UNANSWERED = MINUTE

export interface Cadence {
  readonly status: DomainStatus
  readonly scheduled_from: Date
  readonly checked_at: Date | null
  readonly failing_since: Date | null
  readonly converging_since: Date | null
  readonly dkim_failing_since: Date | null
}

/**
 * When a registration is checked next; undefined: not before its owner asks. Pure.
 * @param isComplete whether the check that ends now was answered for every record.
 * @param random from 0 to 1.
 */
export function nextCheck(domain: Cadence, isComplete: boolean, now: Date, random: number): Date | undefined {
  const regular = domain.status === 'VERIFIED' ? nextOfVerified(domain, now, random) : nextOfOthers(domain, now, random)
  if (regular === undefined) return undefined
  const others = [...deadlines(domain), ...(isComplete ? [] : [afterSilence(domain, now)])]
  return new Date(Math.min(regular, ...others.filter((time) => time > now.getTime())))
}

function nextOfVerified({ failing_since }: Cadence, now: Date, random: number): number {
  const at = now.getTime()
  if (failing_since === null) return at + varied(SELDOM, random)
  const since = failing_since.getTime()
  const next = FAILING_OFFSETS.map((offset) => since + offset).find((time) => time > at)
  return next ?? at + FAILING_EVERY
}

function nextOfOthers({ scheduled_from }: Cadence, now: Date, random: number): number | undefined {
  const at = now.getTime()
  const from = scheduled_from.getTime()
  const age = at - from
  const early = OFFSETS.find((offset) => offset > age)
  if (early !== undefined) return from + early
  if (age >= AUTOMATIC_UNTIL) return undefined
  return Math.min(at + varied(age < HOURLY_UNTIL ? HOUR : SELDOM, random), from + AUTOMATIC_UNTIL)
}

/** The status and the right to send change at these times even where DNS answers as before. */
function deadlines({ status, converging_since, dkim_failing_since }: Cadence): number[] {
  return [
    ...(status === 'VERIFYING' && converging_since !== null ? [converging_since.getTime() + CONVERGENCE_MS] : []),
    ...(dkim_failing_since !== null ? [dkim_failing_since.getTime() + DKIM_GRACE_MS] : []),
  ]
}

/** Soon, but a zone that stays broken is not asked every minute for weeks. */
function afterSilence({ checked_at, scheduled_from }: Cadence, now: Date): number {
  const silentFor = now.getTime() - Math.max(checked_at?.getTime() ?? 0, scheduled_from.getTime())
  return now.getTime() + Math.max(UNANSWERED, silentFor / 4)
}

function varied(interval: number, random: number): number {
  return interval * (1 - JITTER + 2 * JITTER * random)
}
