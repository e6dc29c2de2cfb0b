import type { Caller } from '@restante/contracts/access'
import { type Queryable, sql } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import type { KeysetPage } from '@restante/service/http'
import { asciiName } from '../names/ascii.ts'
import { type DomainScope, IN_SCOPE, mayChange, type ScopeValues, scopeOf, scopeValues } from './scope.ts'
import { COLUMNS, type DomainRow } from './store.ts'

// A matching name takes precedence over an equal client_id.
const FIND = sql<DomainRow, [...ScopeValues, name: string | null, clientId: string]>(
  `select ${COLUMNS} from domains where ${IN_SCOPE} and (name = $4 or client_id = $5)
    order by name = $4 desc nulls last limit 1`,
)

/**
 * A domain that a request sees, by its name in any spelling or its `client_id`.
 * @throws ApiError 404
 */
export async function findDomain(on: Queryable, caller: Caller, nameOrAlias: string): Promise<DomainRow> {
  const [row] = await on.query(FIND, ...scopeValues(scopeOf(caller)), asciiName(nameOrAlias) ?? null, nameOrAlias)
  if (row) return row
  throw notFound('Domain')
}

/**
 * The same, to change it.
 * @throws ApiError 404; 403 where the domain is every pod's, and the request only one pod's.
 */
export async function findOwnDomain(on: Queryable, caller: Caller, nameOrAlias: string): Promise<DomainRow> {
  const row = await findDomain(on, caller, nameOrAlias)
  if (mayChange(scopeOf(caller), row)) return row
  throw new ApiError('forbidden', {
    message: 'This domain belongs to the whole organization',
    fix: 'Use a key of the organization.',
  })
}

const FIND_NAMED = sql<DomainRow, [organizationId: string, names: readonly string[]]>(
  `select ${COLUMNS} from domains where organization_id = $1 and name = any($2::text[])`,
)

/** The registrations that an organization has of some names, whatever pod they belong to. */
export function findNamed(on: Queryable, organizationId: string, names: readonly string[]): Promise<DomainRow[]> {
  return on.query(FIND_NAMED, organizationId, names)
}

const FIND_EVERYWHERE = sql<DomainRow, [names: readonly string[]]>(
  `select ${COLUMNS} from domains where name = any($1::text[]) order by name, uid`,
)

/** The registrations of names by whatever organizations. */
export function findEverywhere(on: Queryable, names: readonly string[]): Promise<DomainRow[]> {
  return on.query(FIND_EVERYWHERE, names)
}

const FIND_BY_ALIAS = sql<DomainRow, [organizationId: string, clientId: string]>(
  `select ${COLUMNS} from domains where organization_id = $1 and client_id = $2`,
)

/** In the whole organization, whatever the scope of the request. */
export async function findByClientId(
  on: Queryable,
  organizationId: string,
  clientId: string,
): Promise<DomainRow | undefined> {
  const [row] = await on.query(FIND_BY_ALIAS, organizationId, clientId)
  return row
}

const COUNT = sql<{ count: number }, [organizationId: string, podId: string | null]>(
  `select count(*)::int as count from domains where organization_id = $1 and ($2::uuid is null or pod_id = $2)`,
)

/** @param podId counts only those of one pod. */
export async function countDomains(on: Queryable, organizationId: string, podId?: string): Promise<number> {
  const [row] = await on.query(COUNT, organizationId, podId ?? null)
  return row?.count ?? 0
}

type PageValues = [...ScopeValues, createdAt: string | null, name: string | null, limit: number]
const NEWEST_FIRST = sql<DomainRow, PageValues>(
  `select ${COLUMNS} from domains where ${IN_SCOPE} and ($4::timestamptz is null or (created_at, name) < ($4, $5))
    order by created_at desc, name desc limit $6`,
)
const OLDEST_FIRST = sql<DomainRow, PageValues>(
  `select ${COLUMNS} from domains where ${IN_SCOPE} and ($4::timestamptz is null or (created_at, name) > ($4, $5))
    order by created_at, name limit $6`,
)

/** A page of the domains of a scope, by creation. */
export function listDomains(on: Queryable, scope: DomainScope, page: KeysetPage): Promise<DomainRow[]> {
  const { ascending, after, take } = page
  const from = [after?.time.toISOString() ?? null, after?.id ?? null] as const
  return on.query(ascending ? OLDEST_FIRST : NEWEST_FIRST, ...scopeValues(scope), ...from, take)
}

const ALL_AFTER = sql<DomainRow, [after: string | null, limit: number]>(
  `select ${COLUMNS} from domains where $1::uuid is null or uid > $1 order by uid limit $2`,
)

/** A page of all registrations of the installation, by uid. */
export function listAll(on: Queryable, after: string | undefined, limit: number): Promise<DomainRow[]> {
  return on.query(ALL_AFTER, after ?? null, limit)
}

/** Names in one answer; the gateway takes no more. */
const MOST_NAMES = 1_000
const BELOW = sql<{ name: string }, [organizationId: string, suffix: string, limit: number]>(
  'select name from domains where organization_id = $1 and right(name, length($2)) = $2 order by name limit $3',
)

/** The names below a domain that the organization has registered, too. */
export async function findNamesBelow(on: Queryable, organizationId: string, name: string): Promise<readonly string[]> {
  return (await on.query(BELOW, organizationId, `.${name}`, MOST_NAMES)).map((row) => row.name)
}
