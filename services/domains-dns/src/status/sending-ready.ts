/** A DKIM record that fails for less than this does not stop sending (domains 7.3). */
export const DKIM_GRACE_MS = 72 * 60 * 60_000

export interface SendingFacts {
  /** First time that it was found verified: all its records were valid then. */
  readonly verifiedAt: Date | null
  readonly dkimFailingSince: Date | null
  readonly isBarred: boolean
  readonly isLost: boolean
}

/**
 * Whether inboxes on a domain may send (domains 7.3). It depends on one completed verification, not on the status, which
 * changes with records that sending does not need. Pure.
 */
export function isSendingReady({ verifiedAt, dkimFailingSince, isBarred, isLost }: SendingFacts, now: Date): boolean {
  if (verifiedAt === null || isBarred || isLost) return false
  return dkimFailingSince === null || now.getTime() - dkimFailingSince.getTime() <= DKIM_GRACE_MS
}
