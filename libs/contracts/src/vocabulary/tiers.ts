/** The three nested tiers a credential, or the path of a request, can be bound to. */
export const TIERS = ['organization', 'pod', 'inbox'] as const
export type Tier = (typeof TIERS)[number]
