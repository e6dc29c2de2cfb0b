import { type EventOf, topics } from '@restante/contracts/events'
import type { DraftIdentity, DraftRow } from './store.ts'

export const draftsTopic = topics['mail.drafts']

type DraftEvent = EventOf<typeof draftsTopic>

/** A draft as it is from now on. @param grown bytes that it takes more than before, negative where fewer (identity 9.2) */
export function changedEvent(row: DraftRow, grown: number): DraftEvent {
  const { kind, size, send_status, send_at } = row
  const state = {
    ...identityOf(row),
    version: row.version,
    grown,
    kind,
    size,
    recipients: row.to.length + row.cc.length + row.bcc.length,
    ...(send_status !== null && { send_status }),
    ...(send_at !== null && { send_at: send_at.toISOString() }),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
  return draftsTopic.event('draft.changed', state, { time: row.updated_at })
}

/** The end of a draft. @param messageId the message that it was sent as. */
export function deletedEvent(row: DraftIdentity, time: Date, messageId?: string): DraftEvent {
  const sent = messageId === undefined ? {} : { message_id: messageId }
  const gone = {
    ...identityOf(row),
    version: row.version + 1,
    grown: -row.size,
    ...sent,
    deleted_at: time.toISOString(),
  }
  return draftsTopic.event('draft.deleted', gone, { time })
}

function identityOf({ id, organization_id, pod_id, inbox_uid }: DraftIdentity) {
  return { organization_id, pod_id, inbox_uid, draft_id: id }
}
