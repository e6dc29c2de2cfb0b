import type { AppCategory, ClientAuthentication, SignInScope } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'

/** An app as it is stored: registered by the operator, or an open client that has signed an inbox in. */
export interface AppRow {
  readonly id: string
  readonly kind: 'registered' | 'open'
  readonly client_id: string
  readonly name: string | null
  readonly description: string | null
  readonly logo_url: string | null
  readonly terms_url: string | null
  readonly privacy_url: string | null
  readonly categories: AppCategory[]
  readonly slug: string | null
  readonly listed: boolean
  readonly native: boolean
  readonly redirect_uris: string[]
  readonly initiate_login_uri: string | null
  readonly scopes: SignInScope[]
  readonly token_endpoint_auth_method: ClientAuthentication
  readonly owner_signup_limit: number | null
  readonly disclosure: string | null
  readonly disclosure_version: number
  readonly created_at: Date
  readonly updated_at: Date
}

/** Every column of `AppRow`, in statements of any capability, on a table called `apps`. */
export const APP_COLUMNS = `apps.id, apps.kind, apps.client_id, apps.name, apps.description, apps.logo_url,
  apps.terms_url, apps.privacy_url, apps.categories, apps.slug, apps.listed, apps.native, apps.redirect_uris,
  apps.initiate_login_uri, apps.scopes, apps.token_endpoint_auth_method, apps.owner_signup_limit, apps.disclosure,
  apps.disclosure_version, apps.created_at, apps.updated_at`

const BY_CLIENT_ID = sql<AppRow, [clientId: string]>(
  `select ${APP_COLUMNS} from apps where client_id = $1 and removed_at is null`,
)

/** The app with a client id, unless it was removed. */
export async function findByClientId(on: Queryable, clientId: string): Promise<AppRow | undefined> {
  const [row] = await on.query(BY_CLIENT_ID, clientId)
  return row
}

const BY_ID = sql<AppRow, [id: string]>(
  `select ${APP_COLUMNS} from apps where id = $1 and kind = 'registered' and removed_at is null`,
)

/** A registered app by its id, in the catalog or not, unless it was removed. */
export async function findById(on: Queryable, id: string): Promise<AppRow | undefined> {
  const [row] = await on.query(BY_ID, id)
  return row
}

const BY_SLUG = sql<AppRow, [key: string]>(
  `select ${APP_COLUMNS} from apps where slug_key = $1 and listed and removed_at is null`,
)

/** An app of the catalog by its normalized slug. */
export async function findBySlug(on: Queryable, key: string): Promise<AppRow | undefined> {
  const [row] = await on.query(BY_SLUG, key)
  return row
}

const LOCK = sql<AppRow, [id: string]>(
  `select ${APP_COLUMNS} from apps where id = $1 and kind = 'registered' and removed_at is null for update`,
)

/** A registered app, locked until the transaction ends. */
export async function lockApp(tx: Tx, id: string): Promise<AppRow | undefined> {
  const [row] = await tx.query(LOCK, id)
  return row
}
