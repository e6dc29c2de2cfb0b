import { randomUUID } from 'node:crypto'
import { type DomainEvent, type TopicDefinition, topics } from '@restante/contracts/events'
import { type InboxScope, inboxDeletedEvent, inboxScope } from '@restante/testkit'

/** An event, its topic, and what it changes in each scope that it names. */
export interface Happened {
  readonly topic: TopicDefinition
  readonly event: DomainEvent
  readonly inbox: InboxScope
  readonly bytes: number
  readonly messages: number
}

/** Inboxes in pods and organizations of their own, and what happens in them. */
export class History {
  readonly inboxes: readonly InboxScope[]
  readonly happened: Happened[] = []
  readonly deleted = new Set<string>()

  constructor(organizations: number, podsEach: number, inboxesEach: number) {
    this.inboxes = Array.from({ length: organizations }, () => randomUUID()).flatMap((organizationId) =>
      Array.from({ length: podsEach }, () => randomUUID()).flatMap((podId) =>
        Array.from({ length: inboxesEach }, () => inboxScope({ organizationId, podId })),
      ),
    )
  }

  /** Makes events of the last days, in random inboxes. */
  make(count: number, days: number): Happened[] {
    const made = Array.from({ length: count }, () => {
      const inbox = this.inboxes[Math.floor(Math.random() * this.inboxes.length)]
      if (inbox === undefined) throw new Error('there is no inbox')
      return happenedIn(inbox, new Date(Date.now() - Math.floor(Math.random() * days * 86_400_000)))
    })
    this.happened.push(...made)
    return made
  }

  /** Deletes an inbox. @returns the event, and when. */
  delete(inbox: InboxScope): { readonly topic: TopicDefinition; readonly event: DomainEvent } {
    this.deleted.add(inbox.inboxUid)
    return { topic: topics.tenancy, event: inboxDeletedEvent(inbox) }
  }

  /** What is stored in a scope, counted by hand. */
  stored(of: (inbox: InboxScope) => boolean): { bytes: number; messages: number } {
    const counted = this.happened.filter(({ inbox }) => of(inbox) && !this.deleted.has(inbox.inboxUid))
    return {
      bytes: counted.reduce((sum, { bytes }) => sum + bytes, 0),
      messages: counted.reduce((sum, { messages }) => sum + messages, 0),
    }
  }
}

function happenedIn(inbox: InboxScope, at: Date): Happened {
  const [size, isDraft, isDeletion] = [100 + Math.floor(Math.random() * 900), Math.random() < 0.2, Math.random() < 0.2]
  const named = { organization_id: inbox.organizationId, pod_id: inbox.podId, inbox_uid: inbox.inboxUid }
  const time = at.toISOString()
  if (isDraft) {
    const topic = topics['mail.drafts']
    const grown = isDeletion ? -size : size
    const payload = {
      ...{ ...named, draft_id: randomUUID(), version: 1, kind: 'new' as const, grown },
      ...{ size, recipients: 1, created_at: time, updated_at: time },
    }
    return { topic, inbox, event: topic.event('draft.changed', payload, { time: at }), bytes: grown, messages: 0 }
  }
  const topic = topics['mail.messages']
  const message_id = `<${randomUUID()}@restante.test>`
  const payload = { ...named, thread_id: randomUUID(), message_id, size }
  const moment = { time: at, about: { ...named, message_id, labels: [] } }
  if (isDeletion) {
    const event = topic.event('message.deleted', { ...payload, thread_deleted: true, deleted_at: time }, moment)
    return { topic, inbox, event, bytes: -size, messages: -1 }
  }
  const stored = { ...payload, direction: 'received' as const, thread_created: true, stored_at: time }
  return { topic, inbox, event: topic.event('message.stored', stored, moment), bytes: size, messages: 1 }
}
