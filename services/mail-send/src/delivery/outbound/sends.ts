import { type Queryable, sql } from '@restante/service/database'

/** The owner of the mail; the installation's own mail has none. */
export type Origin =
  | {
      readonly kind: 'inbox'
      readonly organizationId: string
      readonly podId: string
      readonly inboxUid: string
      readonly threadId: string
    }
  | { readonly kind: 'system' }

/** A message as far as its delivery needs it. */
export interface SendRecord {
  readonly id: string
  readonly origin: Origin
  readonly messageId: string
  readonly size: number
  readonly sha256: string
  readonly acceptedAt: Date
  /** Each recipient gets it with a link of its own to unsubscribe (mail 15.5). */
  readonly unsubscribable: boolean
  /** Domain of its envelope senders; undefined: the one of the installation. */
  readonly returnPath: string | undefined
}

/** The recipients of a message that was sent. */
export interface HandedOver {
  readonly recipients: string[]
  /** How many of them are inboxes of the installation. */
  readonly inside: number
}

/** The name of the blob with the bytes of an outgoing message. */
export function outboundBlob(sendId: string): string {
  return `outbound/${sendId}`
}

/** The columns of a message that its delivery needs, as `SEND_COLUMNS` selects them. */
export interface SendRow {
  id: string
  organization_id: string | null
  pod_id: string | null
  inbox_uid: string | null
  thread_id: string | null
  message_id: string
  size: number
  sha256: string
  accepted_at: Date
  unsubscribable: boolean
  return_path: string | null
}

/** Columns of `sends`, under the alias `s`. */
export const SEND_COLUMNS =
  's.id, s.organization_id, s.pod_id, s.inbox_uid, s.thread_id, s.message_id, s.size, s.sha256, s.accepted_at, s.unsubscribable, s.return_path'

// Rows are locked in one order, so that two transactions with the same messages never wait for each other in a circle.
const HAND_OVER = sql<HandedOver & { id: string }, [sendIds: readonly string[]]>(`
with locked as materialized (select id from sends where id = any($1::uuid[]) order by id for update)
update sends
   set handed_over_at = now()
 where id = any(array(select id from locked)) and handed_over_at is null
returning id, array(select recipient from deliveries where send_id = sends.id order by recipient) as recipients,
          (select count(*)::int from deliveries where send_id = sends.id and inside) as inside`)

const REJECT = sql<{ was: 'waiting' | 'rejected' | 'sent' }, [sendId: string]>(`
with known as (
  select id, case when handed_over_at is not null then 'sent' when rejected_at is not null then 'rejected'
                  else 'waiting' end as was
    from sends where id = $1 for update
), marked as (
  update sends set rejected_at = now() from known where sends.id = known.id and known.was = 'waiting'
)
select was from known`)

/** Marks that the message was sent. @returns all its recipients the first time, undefined afterwards. */
export async function markHandedOver(on: Queryable, sendId: string): Promise<HandedOver | undefined> {
  return (await markAllHandedOver(on, [sendId])).get(sendId)
}

/** The same for several messages, by id. */
export async function markAllHandedOver(on: Queryable, sendIds: readonly string[]): Promise<Map<string, HandedOver>> {
  if (sendIds.length === 0) return new Map()
  const rows = await on.query(HAND_OVER, sendIds)
  return new Map(rows.map(({ id, recipients, inside }) => [id, { recipients, inside }]))
}

/** Marks that the message will never be sent, unless it was. @returns what it was before. */
export async function markRejected(on: Queryable, sendId: string): Promise<'waiting' | 'rejected' | 'sent'> {
  return (await on.query(REJECT, sendId))[0]?.was ?? 'rejected'
}

/** The message of a row. */
export function sendOf(row: SendRow): SendRecord {
  const { id, message_id: messageId, size, sha256, accepted_at: acceptedAt, unsubscribable } = row
  const returnPath = row.return_path ?? undefined
  return { id, origin: originOf(row), messageId, size, sha256, acceptedAt, unsubscribable, returnPath }
}

function originOf(row: SendRow): Origin {
  const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, thread_id: threadId } = row
  if (organizationId === null || podId === null || inboxUid === null || threadId === null) return { kind: 'system' }
  return { kind: 'inbox', organizationId, podId, inboxUid, threadId }
}
