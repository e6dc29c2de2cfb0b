import { type Queryable, sql } from '@restante/service'
import type { Envelope } from './envelope.ts'

/** Whose mail it is: the identities of an inbox, and its address. */
export interface InboxScope {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly address: string
}

/** One row of the queue: a mail for an inbox, or a report about a delivery. */
export type NewInbound =
  | { readonly id: string; readonly kind: 'mail'; readonly recipient: string; readonly inbox: InboxScope }
  | { readonly id: string; readonly kind: 'report'; readonly recipient: string; readonly deliveryId: string }

export interface AcceptedMail {
  readonly blob: string
  readonly size: number
  readonly envelope: Envelope
  readonly receivedAt: Date
}

type Column = readonly (string | null)[]

const INSERT = sql<
  never,
  [
    ids: Column,
    lanes: Column,
    kinds: Column,
    organizations: Column,
    pods: Column,
    inboxes: Column,
    addresses: Column,
    recipients: Column,
    blob: string,
    size: number,
    envelope: string,
    receivedAt: string,
  ]
>(`
with added as (
  insert into inbound (id, lane, kind, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size, envelope, received_at)
  select id, lane, kind, organization_id, pod_id, inbox_uid, inbox_address, recipient, $9, $10, $11::jsonb, $12::timestamptz
    from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::text[])
         as row(id, lane, kind, organization_id, pod_id, inbox_uid, inbox_address, recipient)
  returning organization_id
)
insert into receiving_organizations (organization_id, since)
select distinct organization_id, $12::timestamptz from added where organization_id is not null
on conflict do nothing`)

/** Puts the recipients of one accepted mail into the queue. */
export async function insertInbound(tx: Queryable, mail: AcceptedMail, rows: readonly NewInbound[]): Promise<void> {
  const inbox = (row: NewInbound): InboxScope | undefined => (row.kind === 'mail' ? row.inbox : undefined)
  await tx.query(
    INSERT,
    rows.map((row) => row.id),
    rows.map((row) => (row.kind === 'mail' ? row.inbox.inbox_uid : row.deliveryId)),
    rows.map((row) => row.kind),
    rows.map((row) => inbox(row)?.organization_id ?? null),
    rows.map((row) => inbox(row)?.pod_id ?? null),
    rows.map((row) => inbox(row)?.inbox_uid ?? null),
    rows.map((row) => inbox(row)?.address ?? null),
    rows.map((row) => row.recipient),
    mail.blob,
    mail.size,
    JSON.stringify(mail.envelope),
    mail.receivedAt.toISOString(),
  )
}

const HAS_RECEIVED = sql<{ organization_id: string }, [organizationId: string]>(
  'select organization_id from receiving_organizations where organization_id = $1',
)

/** Whether any mail was ever accepted for an organization. */
export async function hasReceivedMail(db: Queryable, organizationId: string): Promise<boolean> {
  return (await db.query(HAS_RECEIVED, organizationId)).length > 0
}
