import { type EventOf, type Topic, topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import type { Credential, Inbox, Organization, Pod } from '../generated/prisma/client.ts'
import type { Tx } from '../storage/database.ts'
import { credentialState, inboxState, organizationState, podState } from './states.ts'

export type TenancyEvent = EventOf<Topic<'tenancy'>>

/**
 * Publishes every change to the other services: full state with its version, in the transaction that made the change.
 * Deletions carry a version above the last state, so that no late copy of that state brings the entity back.
 */
export class TenancyEvents {
  readonly #outbox: Outbox
  readonly #changed: (organizationId: string) => void

  /**
   * @param changed called after the commit with the organization whose entities changed, so that this process caches
   * nothing older.
   */
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

const tenancyEvent = topics.tenancy.event

export function organizationChanged(row: Organization): TenancyEvent {
  return tenancyEvent('organization.changed', organizationState(row), { time: row.updatedAt })
}

/** @param row before the deletion. */
export function organizationDeleted(row: Organization, deletedAt: Date): TenancyEvent {
  return tenancyEvent('organization.deleted', deletion(row.id, row, deletedAt), { time: deletedAt })
}

/** @param row after the take-over. @param at when the successor took over, or was verified. */
export function organizationTakenOver(
  row: Organization,
  successor: { readonly credentialId: string; readonly verified: boolean },
  at: Date,
): TenancyEvent {
  const payload = {
    organization_id: row.id,
    version: row.version,
    credential_id: successor.credentialId,
    take_overs: row.takeOvers,
    verified: successor.verified,
    at: (row.takenOverAt ?? at).toISOString(),
  }
  return tenancyEvent('organization.taken_over', payload, { time: at })
}

export function podChanged(row: Pod): TenancyEvent {
  return tenancyEvent('pod.changed', podState(row), { time: row.updatedAt })
}

/** @param row before the deletion. */
export function podDeleted(row: Pod, deletedAt: Date): TenancyEvent {
  const payload = { ...deletion(row.organizationId, row, deletedAt), pod_id: row.id }
  return tenancyEvent('pod.deleted', payload, { time: deletedAt })
}

export function inboxChanged(row: Inbox): TenancyEvent {
  return tenancyEvent('inbox.changed', inboxState(row), { time: row.updatedAt })
}

/** @param row before the deletion. */
export function inboxDeleted(row: Inbox, deletedAt: Date): TenancyEvent {
  const named = { pod_id: row.podId, inbox_uid: row.uid, address: row.address }
  const payload = { ...deletion(row.organizationId, row, deletedAt), ...named }
  return tenancyEvent('inbox.deleted', payload, { time: deletedAt })
}

export function credentialChanged(row: Credential): TenancyEvent {
  return tenancyEvent('credential.changed', credentialState(row), { time: row.updatedAt })
}

/** @param row before the deletion. */
export function credentialDeleted(row: Credential, deletedAt: Date): TenancyEvent {
  const payload = { ...deletion(row.organizationId, row, deletedAt), credential_id: row.id, ...bindingOf(row) }
  return tenancyEvent('credential.deleted', payload, { time: deletedAt })
}

/** What every deletion says. Its version is one above that of the row as it was before. */
function deletion(organizationId: string, { version }: { readonly version: number }, deletedAt: Date) {
  return { organization_id: organizationId, version: version + 1, deleted_at: deletedAt.toISOString() }
}

function bindingOf({ podId, inboxUid }: Credential) {
  return { ...(podId === null ? {} : { pod_id: podId }), ...(inboxUid === null ? {} : { inbox_uid: inboxUid }) }
}
