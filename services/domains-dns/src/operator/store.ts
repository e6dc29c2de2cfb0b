import type { InternalRequestOf } from '@restante/contracts/internal'
import { type Queryable, sql } from '@restante/service/database'
import type { PublishedKey } from '../records/expected.ts'
import { COLUMNS, type DomainRow } from '../registrations/store.ts'

type Filter = InternalRequestOf<'domains-dns.listAll'>

const LIST = sql<
  DomainRow,
  [
    organizationId: string | null,
    status: string | null,
    barred: boolean,
    afterName: string | null,
    afterUid: string | null,
    limit: number,
  ]
>(
  `select ${COLUMNS} from domains
    where ($1::uuid is null or organization_id = $1) and ($2::text is null or status = $2)
      and (not $3::boolean or barred_at is not null) and ($4::text is null or (name, uid) > ($4, $5::uuid))
    order by name, uid limit $6`,
)

/** A page of the registrations of all organizations, by name. */
export function listEverything(on: Queryable, { organization_id, status, barred, after, limit }: Filter) {
  const from = [after?.domain ?? null, after?.domain_uid ?? null] as const
  return on.query(LIST, organization_id ?? null, status ?? null, barred ?? false, ...from, limit)
}

const NEXT_CHECKS = sql<{ key: string; due_at: Date }, [uids: readonly string[]]>(
  `select key, min(due_at) as due_at from timers
    where kind in ('domain-check', 'domain-verify') and key = any($1::text[]) group by key`,
)

/** When the next check of each registration is due; those without one are left out. */
export async function nextChecks(on: Queryable, uids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  return new Map((await on.query(NEXT_CHECKS, uids)).map(({ key, due_at }) => [key, due_at]))
}

const KEYS = sql<PublishedKey & { domain_uid: string }, [uids: readonly string[]]>(
  'select domain_uid, selector, public_key as "publicKey" from domain_keys where domain_uid = any($1::uuid[])',
)

/** What registrations publish of their keys. */
export async function publishedKeys(
  on: Queryable,
  uids: readonly string[],
): Promise<ReadonlyMap<string, PublishedKey>> {
  return new Map((await on.query(KEYS, uids)).map(({ domain_uid, ...key }) => [domain_uid, key]))
}
