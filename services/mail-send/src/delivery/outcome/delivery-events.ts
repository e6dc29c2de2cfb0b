import { type EventMoment, type EventOf, topics } from '@restante/contracts/events'
import type { BounceClass, ComplaintClass } from '@restante/mime'
import type { SendRecord } from '../outbound/sends.ts'

export const deliveriesTopic = topics['mail.deliveries']
export type DeliveryEvent = EventOf<typeof deliveriesTopic>

/** A report that does not come from where the mail went is `unproven`; everything else needs no proof. */
export type ReportProof = 'proven' | 'unproven'

/** What can happen to a message and some of its recipients. */
export type Occurrence =
  | { readonly kind: 'handed_over'; readonly recipients: string[]; readonly inside: number }
  | { readonly kind: 'delivered'; readonly recipients: string[]; readonly remote: string | undefined }
  | { readonly kind: 'delayed'; readonly recipients: string[]; readonly diagnostic: string | undefined }
  | {
      readonly kind: 'bounced'
      readonly recipients: string[]
      readonly bounce: BounceClass
      readonly diagnostic: string | undefined
      readonly proof?: ReportProof
      /** They are addresses of the installation. */
      readonly inside?: boolean
    }
  | {
      readonly kind: 'complained'
      readonly recipients: string[]
      readonly complaint: ComplaintClass
      readonly proof?: ReportProof
    }
  | { readonly kind: 'rejected'; readonly reason: string }

type About = Omit<Extract<DeliveryEvent, { type: 'delivery.handed_over' }>['payload'], 'recipients' | 'inside'>

/**
 * Builds events of `mail.deliveries`, in the order given. The installation's own mail has no mailbox that could show
 * them, so there are none.
 */
export function deliveryEvents(send: SendRecord, occurrences: readonly Occurrence[], time: Date): DeliveryEvent[] {
  const { origin, messageId } = send
  if (origin.kind === 'system') return []
  const about: About = {
    organization_id: origin.organizationId,
    pod_id: origin.podId,
    inbox_uid: origin.inboxUid,
    message_id: messageId,
    thread_id: origin.threadId,
    timestamp: time.toISOString(),
  }
  return occurrences.map((item) => eventOf(about, item, { time }))
}

function eventOf(about: About, item: Occurrence, at: EventMoment): DeliveryEvent {
  const { event } = deliveriesTopic
  if (item.kind === 'rejected') return event('delivery.rejected', { ...about, reason: item.reason }, at)
  const { recipients } = item
  switch (item.kind) {
    case 'handed_over':
      return event(
        'delivery.handed_over',
        { ...about, recipients, ...(item.inside > 0 && { inside: item.inside }) },
        at,
      )
    case 'delivered':
      return event('delivery.delivered', { ...about, recipients, remote: item.remote }, at)
    case 'delayed':
      return event('delivery.delayed', { ...about, recipients, diagnostic: item.diagnostic }, at)
    case 'bounced': {
      const { type, subType: sub_type } = item.bounce
      return event(
        'delivery.bounced',
        {
          ...about,
          recipients,
          type,
          sub_type,
          diagnostic: item.diagnostic,
          ...proofOf(item),
          ...(item.inside === true && { inside: true }),
        },
        at,
      )
    }
    case 'complained': {
      const { type, subType: sub_type } = item.complaint
      return event('delivery.complained', { ...about, recipients, type, sub_type, ...proofOf(item) }, at)
    }
  }
}

function proofOf({ proof }: { readonly proof?: ReportProof }): { unproven?: true } {
  return proof === 'unproven' ? { unproven: true } : {}
}
