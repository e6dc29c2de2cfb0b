import { LIMITS, TIERS, type Tier } from '@restante/contracts/vocabulary'

/** Most recipients that may be mailed within a window. Windows of one length begin together, at multiples of it (UTC). */
export interface SendLimit {
  readonly recipients: number
  readonly windowMs: number
}

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

const SIGN_UP_LIMIT = { recipients: LIMITS.signUp.mailsPerDay, windowMs: 24 * 3_600_000, isOfSignUp: true } as const

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
    const key = `${charge.tier} ${charge.windowMs}`
    const known = lowest.get(key)
    if (!known || charge.recipients < known.recipients) lowest.set(key, charge)
  }
  return [...lowest.values()]
}

/** When the window that contains a moment ends. */
export function windowEnd({ windowMs }: SendLimit, now: Date): Date {
  return new Date((Math.floor(now.getTime() / windowMs) + 1) * windowMs)
}
