import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'

/** A `client_id` with what was created for it. It outlives the event (calendar 13.2). */
export interface CreateKey {
  readonly hash: Uint8Array
  readonly event_id: string
  readonly operation_id: string
}

/** A deletion that is answered again as it was (calendar 13.3). */
export interface StoredDeletion {
  /** Target and parameters. */
  readonly request: string
  readonly answer: unknown
}

const FIND_CREATE = sql<CreateKey, [inboxUid: string, clientId: string]>(
  'select hash, event_id, operation_id from create_keys where inbox_uid = $1 and client_id = $2',
)
const ADD_CREATE = sql<
  { event_id: string },
  [inboxUid: string, clientId: string, organizationId: string, hash: Uint8Array, eventId: string, operationId: string]
>(
  `insert into create_keys (inbox_uid, client_id, organization_id, hash, event_id, operation_id)
   values ($1, $2, $3, $4, $5, $6) on conflict (inbox_uid, client_id) do nothing returning event_id`,
)
const FIND_DELETION = sql<StoredDeletion, [organizationId: string, key: string]>(
  'select request, answer from deletions where organization_id = $1 and key = $2 and expires_at > now()',
)
const ADD_DELETION = sql<
  { id: string },
  [id: string, inboxUid: string, organizationId: string, key: string, request: string, answer: string, keptMs: number]
>(
  `insert into deletions (id, inbox_uid, organization_id, key, request, answer, expires_at)
   values ($1, $2, $3, $4, $5, $6::jsonb, now() + $7 * interval '1 millisecond')
   on conflict (organization_id, key) do update
     set id = excluded.id, inbox_uid = excluded.inbox_uid, request = excluded.request, answer = excluded.answer,
         expires_at = excluded.expires_at
     where deletions.expires_at <= now()
   returning id`,
)

/** How long the key of a caller is remembered, in milliseconds (calendar 13.3). */
const KEY_KEPT = 24 * 60 * 60 * 1_000

export async function findCreateKey(on: Queryable, inboxUid: string, clientId: string): Promise<CreateKey | undefined> {
  return (await on.query(FIND_CREATE, inboxUid, clientId))[0]
}

/** Remembers what is created for a `client_id`. @returns false when another request has used it. */
export async function addCreateKey(
  tx: Tx,
  of: { readonly inboxUid: string; readonly clientId: string; readonly organizationId: string },
  { hash, event_id, operation_id }: CreateKey,
): Promise<boolean> {
  const added = await tx.query(ADD_CREATE, of.inboxUid, of.clientId, of.organizationId, hash, event_id, operation_id)
  return added.length > 0
}

export async function findDeletion(
  on: Queryable,
  organizationId: string,
  key: string,
): Promise<StoredDeletion | undefined> {
  return (await on.query(FIND_DELETION, organizationId, key))[0]
}

/**
 * Remembers the answer of a deletion.
 * @param isNamed whether the caller gave the key: then it is remembered for a day, else for a minute.
 * @returns false when another request has used the key.
 */
export async function addDeletion(
  tx: Tx,
  of: { readonly id: string; readonly inboxUid: string; readonly organizationId: string },
  { key, isNamed, request, answer }: StoredDeletion & { readonly key: string; readonly isNamed: boolean },
): Promise<boolean> {
  const kept = isNamed ? KEY_KEPT : CALENDAR_LIMITS.deletionRepeats
  const { id, inboxUid, organizationId } = of
  const added = await tx.query(ADD_DELETION, id, inboxUid, organizationId, key, request, JSON.stringify(answer), kept)
  return added.length > 0
}
