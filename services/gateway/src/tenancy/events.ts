import { randomUUID } from 'node:crypto'
import { type EventOf, type EventRouting, type Topic, topics } from '@restante/contracts'
import type { Outbox } from '@restante/messaging'
import type { Tx } from '../database.ts'
import type { Credential, Inbox, Organization, Pod } from '../generated/prisma/client.ts'
import { credentialState, inboxState, organizationState, podState } from './states.ts'

export type TenancyEvent = EventOf<Topic<'tenancy'>>

/**
 * Tells the other services of every change: full state with its version, in the transaction that made the change.
 * Deletions carry a version beyond the last state, so that no late copy of that state brings the entity back.
 */
export class TenancyEvents {
  readonly #outbox: Outbox
  readonly #changed: (organizationId: string) => void

  /** @param changed told after the commit whose entities changed, so that this process remembers nothing older. */
  constructor(outbox: Outbox, changed: (organizationId: string) => void) {
    this.#outbox = outbox
    this.#changed = changed
  }

  async record(tx: Tx, ...events: readonly TenancyEvent[]): Promise<void> {
    await this.#outbox.addAll(tx, topics.tenancy, events)
    const organizations = new Set(events.map((event) => event.routing.organizationId))
    tx.afterCommit(() => {
      for (const id of organizations) this.#changed(id)
    })
  }
}

export function organizationChanged(row: Organization): TenancyEvent {
  const routing = { organizationId: row.id }
  return { ...envelope(row.id, routing, row.updatedAt), type: 'organization.changed', payload: organizationState(row) }
}

/** @param row as it was before. */
export function organizationDeleted(row: Organization, deletedAt: Date): TenancyEvent {
  return {
    ...envelope(row.id, { organizationId: row.id }, deletedAt),
    type: 'organization.deleted',
    payload: { organization_id: row.id, version: row.version + 1, deleted_at: deletedAt.toISOString() },
  }
}

/** @param row as it is since the take-over. @param at when the successor took over, or was verified. */
export function organizationTakenOver(
  row: Organization,
  successor: { readonly credentialId: string; readonly verified: boolean },
  at: Date,
): TenancyEvent {
  return {
    ...envelope(row.id, { organizationId: row.id }, at),
    type: 'organization.taken_over',
    payload: {
      organization_id: row.id,
      version: row.version,
      credential_id: successor.credentialId,
      take_overs: row.takeOvers,
      verified: successor.verified,
      at: (row.takenOverAt ?? at).toISOString(),
    },
  }
}

export function podChanged(row: Pod): TenancyEvent {
  const routing = { organizationId: row.organizationId, podId: row.id }
  return { ...envelope(row.id, routing, row.updatedAt), type: 'pod.changed', payload: podState(row) }
}

/** @param row as it was before; its version is one below that of the deletion. */
export function podDeleted(row: Pod, deletedAt: Date): TenancyEvent {
  const routing = { organizationId: row.organizationId, podId: row.id }
  return {
    ...envelope(row.id, routing, deletedAt),
    type: 'pod.deleted',
    payload: {
      organization_id: row.organizationId,
      pod_id: row.id,
      version: row.version + 1,
      deleted_at: deletedAt.toISOString(),
    },
  }
}

export function inboxChanged(row: Inbox): TenancyEvent {
  return { ...envelope(row.uid, inboxRouting(row), row.updatedAt), type: 'inbox.changed', payload: inboxState(row) }
}

/** @param row as it was before; its version is one below that of the deletion. */
export function inboxDeleted(row: Inbox, deletedAt: Date): TenancyEvent {
  return {
    ...envelope(row.uid, inboxRouting(row), deletedAt),
    type: 'inbox.deleted',
    payload: {
      organization_id: row.organizationId,
      pod_id: row.podId,
      inbox_uid: row.uid,
      address: row.address,
      version: row.version + 1,
      deleted_at: deletedAt.toISOString(),
    },
  }
}

export function credentialChanged(row: Credential): TenancyEvent {
  const payload = credentialState(row)
  return { ...envelope(row.id, credentialRouting(row), row.updatedAt), type: 'credential.changed', payload }
}

/** @param row as it was before. */
export function credentialDeleted(row: Credential, deletedAt: Date): TenancyEvent {
  return {
    ...envelope(row.id, credentialRouting(row), deletedAt),
    type: 'credential.deleted',
    payload: {
      organization_id: row.organizationId,
      credential_id: row.id,
      version: row.version + 1,
      deleted_at: deletedAt.toISOString(),
    },
  }
}

function envelope(subject: string, routing: EventRouting, time: Date) {
  return { id: randomUUID(), subject, key: routing.organizationId, time, routing }
}

function inboxRouting(row: Inbox): EventRouting {
  return { organizationId: row.organizationId, podId: row.podId, inboxUid: row.uid }
}

function credentialRouting(row: Credential): EventRouting {
  return {
    organizationId: row.organizationId,
    ...(row.podId === null ? {} : { podId: row.podId }),
    ...(row.inboxUid === null ? {} : { inboxUid: row.inboxUid }),
  }
}
