import { type Queryable, sql } from '@restante/service/database'
import { IDENTITY_COLUMNS, type Identity, type IdentityRow, identityOf } from './identity.ts'

const BY_HASH = sql<IdentityRow, [hash: Buffer]>(`
select ${IDENTITY_COLUMNS}
  from credentials c
  join organizations o on o.id = c.organization_id
 where c.secret_hash = $1`)

const BY_HASHES = sql<IdentityRow & { readonly secret_hash: Buffer }, [hashes: readonly Buffer[]]>(`
select ${IDENTITY_COLUMNS}, c.secret_hash
  from credentials c
  join organizations o on o.id = c.organization_id
 where c.secret_hash = any($1)`)

const BY_ID = sql<IdentityRow, [id: string, organizationId: string]>(`
select ${IDENTITY_COLUMNS}
  from credentials c
  join organizations o on o.id = c.organization_id
 where c.id = $1 and c.organization_id = $2`)

/** The holder of the bearer key with this hash, expired or not. */
export async function findByHash(db: Queryable, hash: Buffer): Promise<Identity | undefined> {
  const [row] = await db.query(BY_HASH, hash)
  return row && identityOf(row)
}

/** The holders of several bearer keys, by the hashes of the keys in hexadecimal. */
export async function findByHashes(db: Queryable, hashes: readonly string[]): Promise<ReadonlyMap<string, Identity>> {
  const rows = await db.query(
    BY_HASHES,
    hashes.map((hex) => Buffer.from(hex, 'hex')),
  )
  return new Map(rows.map((row) => [row.secret_hash.toString('hex'), identityOf(row)]))
}

/** The credential of an organization with this id, as its rows are now, expired or not. */
export async function findById(db: Queryable, organizationId: string, id: string): Promise<Identity | undefined> {
  const [row] = await db.query(BY_ID, id, organizationId)
  return row && identityOf(row)
}
