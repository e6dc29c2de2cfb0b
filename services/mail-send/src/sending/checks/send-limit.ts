import type { OwnSendLimits, SendLimit } from '@restante/contracts/access'
import { LIMITS, TIERS, type Tier } from '@restante/contracts/vocabulary'

/** The limits of an installation, for every organization, pod and inbox. */
export type SendLimits = Readonly<Record<Tier, readonly SendLimit[]>>

/** A limit as it applies to one message. */
export interface Charge extends SendLimit {
  readonly tier: Tier
  /** Id of the organization, the pod or the inbox. */
  readonly scopeId: string
  /** The limit of an organization whose human is not verified. */
  readonly isOfSignUp?: boolean
}

const SIGN_UP_LIMIT = { recipients: LIMITS.signUp.mailsPerDay, window_seconds: 24 * 3_600, isOfSignUp: true } as const

/** The limits of one organization: its own ones, and for the other tiers those of the installation. */
export function limitsOf(installation: SendLimits, own: OwnSendLimits = {}): SendLimits {
  return {
    organization: own.organization ?? installation.organization,
    pod: own.pod ?? installation.pod,
    inbox: own.inbox ?? installation.inbox,
  }
}

/**
 * The limits that a message counts against, the widest first; of two for the same window the lower one.
 * @param scopes the ids of organization, pod and inbox.
 */
export function chargesOf(limits: SendLimits, scopes: Readonly<Record<Tier, string>>, unverified: boolean): Charge[] {
  const all: Charge[] = [
    ...(unverified ? [{ ...SIGN_UP_LIMIT, tier: 'organization', scopeId: scopes.organization } as const] : []),
    ...TIERS.flatMap((tier) => limits[tier].map((limit) => ({ ...limit, tier, scopeId: scopes[tier] }))),
  ]
  const lowest = new Map<string, Charge>()
  for (const charge of all) {
    const key = `${charge.tier} ${charge.window_seconds}`
    const known = lowest.get(key)
    if (!known || charge.recipients < known.recipients) lowest.set(key, charge)
  }
  return [...lowest.values()]
}

/** When the window that contains a moment ends. */
export function windowEnd({ window_seconds }: SendLimit, now: Date): Date {
  const windowMs = window_seconds * 1_000
  return new Date((Math.floor(now.getTime() / windowMs) + 1) * windowMs)
}
