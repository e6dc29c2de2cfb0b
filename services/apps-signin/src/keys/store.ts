import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { KeyRing } from '@restante/service/secrets'
import { newKeyPair, type PublicSigningKey } from './key-pair.ts'

/** How long a key signs. */
const PERIOD_SECONDS = 30 * 86_400
const OVERLAP_SECONDS = LIMITS.app.signingKeyOverlap / 1_000

/** A key as it is stored: its private half sealed. */
export interface SigningKeyRow {
  readonly kid: string
  readonly private_key: Uint8Array
  readonly sealed_with: string
}

/**
 * What is published is decided by the database's clock in one statement, never by what a process remembers: replicas show
 * the same set at every time. A key ends when the next one begins, and is shown for the overlap after that.
 */
const PUBLISHED = sql<{ public_key: PublicSigningKey }, [overlap: number]>(
  `select public_key from (
     select public_key, active_from, lead(active_from) over (order by active_from) as ends_at from signing_keys
   ) as keys
   where ends_at is null or ends_at > now() - $1 * interval '1 second'
   order by active_from`,
)

/** The public keys of the JWKS: the one that signs, the next, and the last (apps 6.1). */
export async function publishedKeys(on: Queryable): Promise<readonly PublicSigningKey[]> {
  const rows = await on.query(PUBLISHED, OVERLAP_SECONDS)
  return rows.map(({ public_key }) => public_key)
}

const CURRENT = sql<SigningKeyRow>(
  `select kid, private_key, sealed_with from signing_keys where active_from <= now() order by active_from desc limit 1`,
)

/** The key that signs now; undefined before the first one was made. */
export async function currentKey(on: Queryable): Promise<SigningKeyRow | undefined> {
  const [row] = await on.query(CURRENT)
  return row
}

const LOCK = sql<never>("select pg_advisory_xact_lock(hashtextextended('signing keys', 0))")
const DUE = sql<{ due: boolean; in_seconds: number }, [period: number, overlap: number]>(
  `select latest is null or age >= $1::int - $2::int as due,
     case when latest is null then 0 else greatest($2::int, $1::int - age) end::float8 as in_seconds
   from (select max(active_from) as latest, extract(epoch from now() - max(active_from)) as age from signing_keys) as keys`,
)
const INSERT = sql<
  never,
  [kid: string, publicKey: PublicSigningKey, privateKey: Uint8Array, sealedWith: string, inSeconds: number]
>(
  `insert into signing_keys (kid, public_key, private_key, sealed_with, active_from)
   values ($1, $2, $3, $4, now() + $5 * interval '1 second')`,
)

/**
 * Makes the next key, a day before it signs; the very first one signs at once. Of several processes one makes it.
 * @returns whether one was made.
 */
export async function makeDueKey(tx: Tx, ring: KeyRing): Promise<boolean> {
  await tx.query(LOCK)
  const [{ due, in_seconds } = { due: true, in_seconds: 0 }] = await tx.query(DUE, PERIOD_SECONDS, OVERLAP_SECONDS)
  if (!due) return false
  const { kid, publicKey, privateKey } = await newKeyPair()
  const { sealed, sealedWith } = ring.seal(kid, privateKey)
  await tx.query(INSERT, kid, publicKey, sealed, sealedWith, in_seconds)
  return true
}

const DELETE_ENDED = sql<{ kid: string }, [overlap: number]>(
  `delete from signing_keys as ended where exists (
     select from signing_keys where active_from > ended.active_from and active_from <= now() - $1 * interval '1 second')
   returning kid`,
)

/** Deletes keys that are no longer published. */
export async function deleteEndedKeys(on: Queryable): Promise<number> {
  return (await on.query(DELETE_ENDED, OVERLAP_SECONDS)).length
}

const SEALED_WITH = sql<SigningKeyRow, [ids: readonly string[]]>(
  'select kid, private_key, sealed_with from signing_keys where sealed_with = any($1::text[]) for update skip locked',
)
const SEAL_AGAIN = sql<never, [kid: string, privateKey: Uint8Array, sealedWith: string]>(
  'update signing_keys set private_key = $2, sealed_with = $3 where kid = $1',
)

/** Seals keys that an earlier encryption key has sealed with the current one. @returns how many there were. */
export async function sealAgain(tx: Tx, ring: KeyRing): Promise<number> {
  const rows = await tx.query(SEALED_WITH, ring.previous)
  for (const { kid, private_key, sealed_with } of rows) {
    const { sealed, sealedWith } = ring.seal(kid, ring.open(kid, private_key, sealed_with))
    await tx.query(SEAL_AGAIN, kid, sealed, sealedWith)
  }
  return rows.length
}

const COUNT_UNKNOWN = sql<{ count: number }, [ids: readonly string[]]>(
  'select count(*)::int as count from signing_keys where sealed_with <> all($1::text[])',
)

/** Number of keys that no encryption key of the installation opens. */
export async function countUnopenable(on: Queryable, ring: KeyRing): Promise<number> {
  const [row] = await on.query(COUNT_UNKNOWN, [ring.current, ...ring.previous])
  return row?.count ?? 0
}

const AGE = sql<{ age: number }>('select extract(epoch from now() - max(active_from))::float8 as age from signing_keys')

/** Seconds since the newest key began to sign, by the database's clock. */
export async function ageOfNewestKey(on: Queryable): Promise<number> {
  const [row] = await on.query(AGE)
  return row?.age ?? 0
}
