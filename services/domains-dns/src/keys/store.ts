import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { KeyRing } from '@restante/service/secrets'
import type { KeyPair } from './key-pair.ts'

interface NewKey {
  readonly domainUid: string
  readonly selector: string
  readonly pair: KeyPair
}

const INSERT = sql<
  never,
  [domainUid: string, selector: string, publicKey: string, privateKey: Uint8Array, sealedWith: string]
>('insert into domain_keys (domain_uid, selector, public_key, private_key, sealed_with) values ($1, $2, $3, $4, $5)')

/** Stores the pair of a new registration; its private key is sealed with the uid of the registration. */
export async function insertKey(tx: Tx, ring: KeyRing, { domainUid, selector, pair }: NewKey): Promise<void> {
  const { sealed, sealedWith } = ring.seal(domainUid, pair.privateKey)
  await tx.query(INSERT, domainUid, selector, pair.publicKey, sealed, sealedWith)
}

interface SigningRow {
  readonly name: string
  readonly selector: string
  readonly private_key: Uint8Array
  readonly sealed_with: string
}
const FIND_SIGNING = sql<SigningRow, [domainUid: string]>(
  `select name, selector, private_key, sealed_with from domain_keys join domains on uid = domain_uid
    where domain_uid = $1 and sending_ready`,
)

/** The key that signs for a registration; undefined when it is deleted, or may not send. */
export async function findSigningKey(
  on: Queryable,
  ring: KeyRing,
  domainUid: string,
): Promise<{ domain: string; selector: string; private_key: string } | undefined> {
  const [row] = await on.query(FIND_SIGNING, domainUid)
  if (!row) return undefined
  const { name: domain, selector, private_key: sealed, sealed_with: sealedWith } = row
  return { domain, selector, private_key: ring.open(domainUid, sealed, sealedWith) }
}

interface SealedRow {
  readonly domain_uid: string
  readonly private_key: Uint8Array
  readonly sealed_with: string
}
const LOCK_SEALED_WITH = sql<SealedRow, [ids: readonly string[], rows: number]>(
  `select domain_uid, private_key, sealed_with from domain_keys where sealed_with = any($1::text[])
    limit $2 for update skip locked`,
)
const SEAL_AGAIN = sql<never, [domainUid: string, privateKey: Uint8Array, sealedWith: string]>(
  'update domain_keys set private_key = $2, sealed_with = $3 where domain_uid = $1',
)

/** Seals keys that an earlier key has sealed with the current one. @returns how many there were, at most `rows`. */
export async function sealAgain(tx: Tx, ring: KeyRing, rows: number): Promise<number> {
  const earlier = await tx.query(LOCK_SEALED_WITH, ring.previous, rows)
  for (const { domain_uid: uid, private_key, sealed_with } of earlier) {
    const { sealed, sealedWith } = ring.seal(uid, ring.open(uid, private_key, sealed_with))
    await tx.query(SEAL_AGAIN, uid, sealed, sealedWith)
  }
  return earlier.length
}

const COUNT_UNKNOWN = sql<{ count: number }, [ids: readonly string[]]>(
  'select count(*)::int as count from domain_keys where sealed_with <> all($1::text[])',
)

/** Number of keys that no key of the installation opens. */
export async function countUnopenable(on: Queryable, ring: KeyRing): Promise<number> {
  const [row] = await on.query(COUNT_UNKNOWN, [ring.current, ...ring.previous])
  return row?.count ?? 0
}
