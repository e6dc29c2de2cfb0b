import type { EventOf } from './definition/event.ts'
import type { topics } from './topics.ts'

/** What an organization has sent, and what came back, per recipient. */
export interface ReputationCounts {
  readonly sent: number
  readonly bounced: number
  readonly complained: number
}

/** Shares of what was sent (0.05 is 5 %); null where nothing was. */
export interface ReputationRates {
  readonly bounce: number | null
  readonly complaint: number | null
}

type DeliveryEvent = EventOf<(typeof topics)['mail.deliveries']>

/**
 * How a fact about sent mail counts in the rates of its organization (identity 9.3). A bounce counts when the address is at
 * fault (`Permanent`): a full mailbox, a dead network or the operator says nothing about whom the organization writes to. A
 * report that anyone could have written does not count.
 */
export function countedIn({ type, payload }: DeliveryEvent): ReputationCounts {
  switch (type) {
    case 'delivery.handed_over':
      return { sent: payload.recipients.length, bounced: 0, complained: 0 }
    case 'delivery.bounced': {
      const counts = payload.type === 'Permanent' && payload.unproven !== true
      return { sent: 0, bounced: counts ? payload.recipients.length : 0, complained: 0 }
    }
    case 'delivery.complained':
      return { sent: 0, bounced: 0, complained: payload.unproven === true ? 0 : payload.recipients.length }
    default:
      return { sent: 0, bounced: 0, complained: 0 }
  }
}

/**
 * The same for the reputation of the organization (mail 15.3), to which addresses of the installation do not count: anyone
 * could send any amount among them, and what bounces there has not left.
 */
export function countedOutside(event: DeliveryEvent): ReputationCounts {
  const { type, payload } = event
  const counts = countedIn(event)
  if (type === 'delivery.handed_over') return { ...counts, sent: counts.sent - (payload.inside ?? 0) }
  return type === 'delivery.bounced' && payload.inside === true ? { ...counts, bounced: 0 } : counts
}

/** Recipients of a period. Mail to a domain without a server never leaves, and bounces all the same: it counts as sent. */
export function triedOf({ sent, bounced }: ReputationCounts): number {
  return Math.max(sent, bounced)
}

/** The rates of a period. */
export function ratesOf(counts: ReputationCounts): ReputationRates {
  const { bounced, complained } = counts
  const tried = triedOf(counts)
  return tried === 0 ? { bounce: null, complaint: null } : { bounce: bounced / tried, complaint: complained / tried }
}
