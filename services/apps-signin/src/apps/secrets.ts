import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'

const BYTES = 32

/** A secret without its value. */
export interface SecretRow {
  readonly id: string
  readonly app_id: string
  readonly created_at: Date
}

const HASHES = sql<{ hash: Uint8Array }, [appId: string]>('select hash from app_secrets where app_id = $1')

/** Whether a text is one of the valid secrets of an app. Every one is compared, in constant time. */
export async function verifySecret(on: Queryable, appId: string, secret: string): Promise<boolean> {
  const given = hashOf(secret)
  let matches = false
  for (const { hash } of await on.query(HASHES, appId)) {
    if (timingSafeEqual(given, Buffer.from(hash))) matches = true
  }
  return matches
}

const INSERT = sql<never, [id: string, appId: string, hash: Uint8Array]>(
  'insert into app_secrets (id, app_id, hash, created_at) values ($1, $2, $3, clock_timestamp())',
)
const KEEP_LATEST = sql<never, [appId: string, most: number]>(
  `delete from app_secrets where app_id = $1
     and id not in (select id from app_secrets where app_id = $1 order by created_at desc, id limit $2)`,
)

/** Gives an app another secret, and ends the older of two. The transaction has locked the app. @returns its value. */
export async function addSecret(tx: Tx, appId: string): Promise<string> {
  const secret = randomBytes(BYTES).toString('base64url')
  await tx.query(KEEP_LATEST, appId, LIMITS.app.secrets - 1)
  await tx.query(INSERT, randomUUID(), appId, hashOf(secret))
  return secret
}

const DELETE = sql<never, [appId: string, id: string | null]>(
  'delete from app_secrets where app_id = $1 and ($2::uuid is null or id = $2)',
)

/** Ends one secret of an app, or without `id` all. */
export async function deleteSecrets(tx: Tx, appId: string, id: string | null): Promise<void> {
  await tx.query(DELETE, appId, id)
}

const SELECT = sql<SecretRow, [appIds: readonly string[]]>(
  'select id, app_id, created_at from app_secrets where app_id = any($1::uuid[]) order by created_at, id',
)

/** The secrets of apps, without their values. */
export async function secretsOf(on: Queryable, appIds: readonly string[]): Promise<ReadonlyMap<string, SecretRow[]>> {
  return Map.groupBy(await on.query(SELECT, appIds), (row) => row.app_id)
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
