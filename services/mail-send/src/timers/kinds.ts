/** The payload of a delivery's timer: identifies the recipients of one message at one destination. */
export interface DeliveryTarget {
  readonly send_id: string
  readonly destination: string
  /** Domain that the message is from, which may have a route of its own. Older timers have none. */
  readonly sender_domain?: string
  readonly suspended?: SuspendedTarget
}

/** A delivery that waits for an attempt at another message to its destination, which was down (times in ISO 8601). */
export interface SuspendedTarget {
  /** When it was suspended first. */
  readonly since: string
  /** The time that its timer got. A timer with another time is due for another reason. */
  readonly until: string
}

/** The payload of the timer of a notice about a failed delivery. */
export interface NoticeTarget {
  readonly delivery_id: string
}

/** Timers of this service. First attempts are timers that are due at once. */
export interface SendTimers {
  /** Hand-over to inboxes hosted here. */
  readonly 'delivery-local': DeliveryTarget
  /** SMTP to the outside. */
  readonly 'delivery-outside': DeliveryTarget
  /** SMTP to destinations that were slow, or could not be reached, at the last attempt. */
  readonly 'delivery-slow': DeliveryTarget
  /** A scheduled draft is due; its key is the id of the draft. */
  readonly 'draft-send': { readonly draft_id: string }
  readonly 'bounce-notice': NoticeTarget
}
export const DELIVERY_KINDS = ['delivery-local', 'delivery-outside', 'delivery-slow'] as const
export type DeliveryKind = (typeof DELIVERY_KINDS)[number]

/** Shares of organizations, and one of the installation's own mail. */
const ORGANIZATION_SHARES = 64
export const SHARES = ORGANIZATION_SHARES + 1

/**
 * The share of an organization's mail: what waits for one organization delays the mail of few others. Shares are few,
 * because each is looked at with every poll.
 */
export function shareOf(organizationId: string | undefined): number {
  if (organizationId === undefined) return ORGANIZATION_SHARES
  return Number.parseInt(organizationId.slice(0, 8), 16) % ORGANIZATION_SHARES
}
