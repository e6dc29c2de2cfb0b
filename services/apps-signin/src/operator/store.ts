import type { AppSettings, RegisteredApp } from '@restante/contracts/internal'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import { nameKey } from '../apps/name-keys.ts'
import { type SecretRow, secretsOf } from '../apps/secrets.ts'
import { slugKey } from '../apps/slugs.ts'
import { APP_COLUMNS, type AppRow } from '../apps/store.ts'

const LOCK_CATALOG = sql<never>(`select pg_advisory_xact_lock(hashtextextended('registrations of apps', 0))`)

/** Registrations and changes of apps come one after the other, so that a slug that was found free stays free. */
export async function lockRegistrations(tx: Tx): Promise<void> {
  await tx.query(LOCK_CATALOG)
}

const ANY = sql<AppRow & { removed: boolean }, [id: string]>(
  `select ${APP_COLUMNS}, removed_at is not null as removed from apps where id = $1`,
)

/** An app of any kind, removed or not. */
export async function findAny(on: Queryable, id: string): Promise<(AppRow & { removed: boolean }) | undefined> {
  const [row] = await on.query(ANY, id)
  return row
}

const TAKEN = sql<{ id: string }, [key: string, exceptId: string]>(
  'select id from apps where slug_key = $1 and id <> $2',
)

/** Whether another app has, or had, a slug that is equal after normalization. */
export async function isSlugTaken(on: Queryable, slug: string, exceptId: string): Promise<boolean> {
  return (await on.query(TAKEN, slugKey(slug), exceptId)).length > 0
}

type Values = [
  id: string,
  name: string,
  description: string | null,
  logoUrl: string | null,
  termsUrl: string | null,
  privacyUrl: string | null,
  categories: readonly string[],
  slug: string | null,
  slugKey: string | null,
  listed: boolean,
  native: boolean,
  redirectUris: readonly string[],
  initiateLoginUri: string | null,
  scopes: readonly string[],
  authentication: string,
  signUpLimit: number | null,
  disclosure: string | null,
  disclosureVersion: number,
  nameKey: string,
]
const INSERT = sql<AppRow, Values>(
  `insert into apps (id, client_id, name, description, logo_url, terms_url, privacy_url, categories, slug, slug_key,
     listed, native, redirect_uris, initiate_login_uri, scopes, token_endpoint_auth_method, owner_signup_limit, disclosure,
     disclosure_version, name_key)
   values ($1, $1::uuid::text, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
   returning ${APP_COLUMNS}`,
)
const UPDATE = sql<AppRow, Values>(
  `update apps set name = $2, description = $3, logo_url = $4, terms_url = $5, privacy_url = $6, categories = $7,
     slug = $8, slug_key = $9, listed = $10, native = $11, redirect_uris = $12, initiate_login_uri = $13, scopes = $14,
     token_endpoint_auth_method = $15, owner_signup_limit = $16, disclosure = $17, disclosure_version = $18,
     name_key = $19, updated_at = now()
   where id = $1 returning ${APP_COLUMNS}`,
)

/** Stores a new app, or the settings of one that exists. */
export async function storeApp(tx: Tx, how: 'insert' | 'update', id: string, given: AppSettings): Promise<AppRow> {
  const described = [given.name, given.description, given.logo_url, given.terms_url, given.privacy_url] as const
  const [row] = await tx.query(
    how === 'insert' ? INSERT : UPDATE,
    id,
    ...described,
    given.categories,
    given.slug,
    given.slug === null ? null : slugKey(given.slug),
    given.listed,
    given.native,
    given.redirect_uris,
    given.initiate_login_uri,
    given.scopes,
    given.token_endpoint_auth_method,
    given.owner_signup_limit,
    given.disclosure,
    given.disclosure_version,
    nameKey(given.name),
  )
  if (row === undefined) throw new Error('the app that was just stored was not found')
  return row
}

const REMOVE = sql<{ id: string }, [id: string]>(
  `update apps set removed_at = now(), listed = false, updated_at = now()
    where id = $1 and kind = 'registered' and removed_at is null returning id`,
)

/** Removes an app; its row stays for the accounts that name it, and so that nothing else gets its slug. */
export async function removeApp(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query(REMOVE, id)).length > 0
}

const LIST = sql<AppRow, [afterName: string | null, afterId: string | null, limit: number]>(
  `select ${APP_COLUMNS} from apps
    where kind = 'registered' and removed_at is null and ($1::text is null or (name, id) > ($1, $2::uuid))
    order by name, id limit $3`,
)

/** A page of the registered apps, by name. */
export function listRegistered(
  on: Queryable,
  after: { readonly name: string; readonly app_id: string } | undefined,
  limit: number,
): Promise<AppRow[]> {
  return on.query(LIST, after?.name ?? null, after?.app_id ?? null, limit)
}

const BY_SLUG = sql<AppRow, [key: string]>(
  `select ${APP_COLUMNS} from apps where slug_key = $1 and kind = 'registered' and removed_at is null`,
)

/** A registered app by its normalized slug, in the catalog or not. */
export async function findRegisteredBySlug(on: Queryable, key: string): Promise<AppRow | undefined> {
  const [row] = await on.query(BY_SLUG, key)
  return row
}

const ACCOUNTS = sql<{ app_id: string; accounts: number }, [ids: readonly string[]]>(
  'select app_id, count(*)::int as accounts from accounts where app_id = any($1::uuid[]) group by app_id',
)

/** Apps as the operator sees them. */
export async function registeredApps(on: Queryable, rows: readonly AppRow[]): Promise<RegisteredApp[]> {
  const ids = rows.map(({ id }) => id)
  const [secrets, counted] = await Promise.all([secretsOf(on, ids), on.query(ACCOUNTS, ids)])
  const accounts = new Map(counted.map((row) => [row.app_id, row.accounts]))
  return rows.map((row) => ({
    ...settingsOf(row),
    app_id: row.id,
    client_id: row.client_id,
    secrets: (secrets.get(row.id) ?? []).map(secretDocument),
    accounts: accounts.get(row.id) ?? 0,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }))
}

function secretDocument({ id, created_at }: SecretRow): RegisteredApp['secrets'][number] {
  return { secret_id: id, created_at: created_at.toISOString() }
}

/** The settings of a registered app. */
export function settingsOf(row: AppRow): AppSettings {
  return {
    name: row.name ?? '',
    description: row.description,
    logo_url: row.logo_url,
    terms_url: row.terms_url,
    privacy_url: row.privacy_url,
    categories: row.categories,
    slug: row.slug,
    listed: row.listed,
    native: row.native,
    redirect_uris: row.redirect_uris,
    initiate_login_uri: row.initiate_login_uri,
    scopes: row.scopes,
    token_endpoint_auth_method: row.token_endpoint_auth_method,
    owner_signup_limit: row.owner_signup_limit,
    disclosure: row.disclosure,
    disclosure_version: row.disclosure_version,
  }
}
