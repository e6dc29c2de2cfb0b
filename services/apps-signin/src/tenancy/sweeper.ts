import { LIMITS } from '@restante/contracts/vocabulary'
import { type Sweep, sweepOf } from '@restante/service/database'

/** A PostgreSQL interval of so many milliseconds. */
const interval = (ms: number): string => `interval '${ms} milliseconds'`
const HOUR = 3_600_000

/**
 * Rows that nothing asks for any more. Sign-ins that have ended stay for an hour, so that a late step of one is told that
 * it expired, and a second use of a code is noticed for as long as its token lives.
 */
const OVER: readonly (readonly [table: string, condition: string])[] = [
  ['tickets', `expires_at < now() - ${interval(HOUR)}`],
  ['connect_replays', 'expires_at < now()'],
  ['transactions', `expires_at < now() - ${interval(HOUR)}`],
  ['enrollments', `expires_at < now() - ${interval(HOUR)}`],
  ['owner_approvals', `expires_at < now() - ${interval(HOUR)}`],
  // Counted against a limit per hour.
  ['owner_mails', `created_at < now() - ${interval(2 * HOUR)}`],
  ['codes', `expires_at < now() - ${interval(HOUR)}`],
  ['access_tokens', 'expires_at < now()'],
  ['consents', `used_at < now() - ${interval(LIMITS.app.consent)}`],
  ['exchange_counts', `minute < now() - ${interval(HOUR)}`],
  // An open client whose last account is gone. Its next sign-in makes it a row again.
  ['apps', "kind = 'open' and not exists (select from accounts where accounts.app_id = apps.id)"],
]

/** Deletes what has expired, of every table. */
export const SWEEPS: readonly Sweep[] = OVER.map(([table, condition]) => sweepOf(table, condition))
