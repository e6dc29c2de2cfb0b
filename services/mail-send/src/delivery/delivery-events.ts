import { randomUUID } from 'node:crypto'
import { type EventOf, topics } from '@restante/contracts'
import type { BounceClass, ComplaintClass } from '@restante/mime'
import type { SendRecord } from './store.ts'

export type DeliveryFact = EventOf<(typeof topics)['mail.deliveries']>

/** What can become known about a message and some of its recipients. */
export type News =
  | { readonly kind: 'handed_over'; readonly recipients: string[] }
  | { readonly kind: 'delivered'; readonly recipients: string[]; readonly remote: string | undefined }
  | { readonly kind: 'delayed'; readonly recipients: string[]; readonly diagnostic: string | undefined }
  | {
      readonly kind: 'bounced'
      readonly recipients: string[]
      readonly bounce: BounceClass
      readonly diagnostic: string | undefined
    }
  | { readonly kind: 'complained'; readonly recipients: string[]; readonly complaint: ComplaintClass }
  | { readonly kind: 'rejected'; readonly reason: string }

/** What all facts about one message have in common. */
type FactHead = Pick<DeliveryFact, 'subject' | 'key' | 'time' | 'routing'>
type About = Omit<Extract<DeliveryFact, { type: 'delivery.handed_over' }>['payload'], 'recipients'>

/**
 * News as events of `mail.deliveries`, in the order given. Mail of the installation itself has no mailbox that could
 * show them, so there are none.
 */
export function factsOf(send: SendRecord, news: readonly News[], time: Date): DeliveryFact[] {
  const { origin, messageId } = send
  if (origin.kind === 'system') return []
  const { organizationId, podId, inboxUid, threadId } = origin
  const head: FactHead = { subject: messageId, key: inboxUid, time, routing: { organizationId, podId, inboxUid } }
  const about: About = {
    organization_id: organizationId,
    pod_id: podId,
    inbox_uid: inboxUid,
    message_id: messageId,
    thread_id: threadId,
    timestamp: time.toISOString(),
  }
  return news.map((item) => factOf({ ...head, id: randomUUID() }, about, item))
}

function factOf(head: FactHead & { id: string }, about: About, item: News): DeliveryFact {
  if (item.kind === 'rejected')
    return { ...head, type: 'delivery.rejected', payload: { ...about, reason: item.reason } }
  const { recipients } = item
  switch (item.kind) {
    case 'handed_over':
      return { ...head, type: 'delivery.handed_over', payload: { ...about, recipients } }
    case 'delivered':
      return { ...head, type: 'delivery.delivered', payload: { ...about, recipients, remote: item.remote } }
    case 'delayed':
      return { ...head, type: 'delivery.delayed', payload: { ...about, recipients, diagnostic: item.diagnostic } }
    case 'bounced': {
      const { type, subType: sub_type } = item.bounce
      const payload = { ...about, recipients, type, sub_type, diagnostic: item.diagnostic }
      return { ...head, type: 'delivery.bounced', payload }
    }
    case 'complained': {
      const { type, subType: sub_type } = item.complaint
      return { ...head, type: 'delivery.complained', payload: { ...about, recipients, type, sub_type } }
    }
  }
}

export const deliveriesTopic = topics['mail.deliveries']
