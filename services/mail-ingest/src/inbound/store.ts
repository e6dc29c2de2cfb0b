import { type Queryable, sql } from '@restante/service/database'
import type { Envelope } from './envelope.ts'

/** The inbox of a mail: the ids of its scope, and its address. */
export interface InboxScope {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly address: string
}

/**
 * One row of the queue: a mail for an inbox, a report about a delivery, a complaint to a registered address, a DMARC
 * report about a custom domain, or a mail to the operator.
 */
export type NewInbound =
  | { readonly id: string; readonly kind: 'mail'; readonly recipient: string; readonly inbox: InboxScope }
  | { readonly id: string; readonly kind: 'report'; readonly recipient: string; readonly deliveryId: string }
  | { readonly id: string; readonly kind: 'complaint' | 'dmarc' | 'operator'; readonly recipient: string }

export interface AcceptedMail {
  readonly blob: string
  readonly size: number
  readonly envelope: Envelope
  readonly receivedAt: Date
}

type Column = readonly (string | null)[]

// Organizations are inserted in a fixed order, so that two transactions that insert several of them cannot deadlock.
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
    blobs: Column,
    sizes: readonly number[],
    envelopes: Column,
    receivedAt: Column,
  ]
>(`
with added as (
  insert into inbound (id, lane, kind, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size, envelope, received_at)
  select id, lane, kind, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size, envelope::jsonb, received_at
    from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[],
                $10::int[], $11::text[], $12::timestamptz[])
         with ordinality as row(id, lane, kind, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size,
                                envelope, received_at, ordinal)
   order by ordinal
  returning organization_id, received_at
)
insert into receiving_organizations (organization_id, since)
select organization_id, min(received_at) from added where organization_id is not null
 group by organization_id order by organization_id
on conflict do nothing`)

/** Puts the recipients of accepted mails into the queue, in this order. */
export async function insertInbound(
  tx: Queryable,
  mails: readonly { readonly mail: AcceptedMail; readonly rows: readonly NewInbound[] }[],
): Promise<void> {
  const rows = mails.flatMap(({ mail, rows }) => {
    const envelope = JSON.stringify(mail.envelope)
    return rows.map((row) => ({ ...row, mail, envelope, scope: row.kind === 'mail' ? row.inbox : undefined }))
  })
  await tx.query(
    INSERT,
    rows.map((row) => row.id),
    rows.map(laneOf),
    rows.map((row) => row.kind),
    rows.map(({ scope }) => scope?.organization_id ?? null),
    rows.map(({ scope }) => scope?.pod_id ?? null),
    rows.map(({ scope }) => scope?.inbox_uid ?? null),
    rows.map(({ scope }) => scope?.address ?? null),
    rows.map((row) => row.recipient),
    rows.map(({ mail }) => mail.blob),
    rows.map(({ mail }) => mail.size),
    rows.map(({ envelope }) => envelope),
    rows.map(({ mail }) => mail.receivedAt.toISOString()),
  )
}

/** Mails of one lane are processed in their order. That of the others does not matter. */
function laneOf(row: NewInbound): string {
  switch (row.kind) {
    case 'mail':
      return row.inbox.inbox_uid
    case 'report':
      return row.deliveryId
    case 'complaint':
    case 'dmarc':
    case 'operator':
      return row.id
  }
}

const HAS_RECEIVED = sql<{ organization_id: string }, [organizationId: string]>(
  'select organization_id from receiving_organizations where organization_id = $1',
)

/** Whether any mail was ever accepted for an organization. */
export async function hasReceivedMail(db: Queryable, organizationId: string): Promise<boolean> {
  return (await db.query(HAS_RECEIVED, organizationId)).length > 0
}

// `updated_at` of a thread changes when a mail is added. The dates of mails are not used, because their senders choose
// them.
const RECEIVED_SINCE = sql<{ id: string }, [organizationIds: string[], since: string]>(`
select asked.id from unnest($1::uuid[]) as asked (id)
 where exists (select from threads where organization_id = asked.id and updated_at >= $2::timestamptz
                  and received_timestamp is not null)`)

/** Those of the given organizations for which mail has arrived since a given time. */
export async function receivedSince(
  db: Queryable,
  organizationIds: readonly string[],
  since: string,
): Promise<string[]> {
  const rows = await db.query(RECEIVED_SINCE, [...organizationIds], since)
  return rows.map(({ id }) => id)
}
