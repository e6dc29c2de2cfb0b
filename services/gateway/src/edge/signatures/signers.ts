import { createVerify, type KeyObject } from 'node:crypto'
import { type Queryable, sql } from '@restante/service/database'
import type { Verifier } from 'http-message-sig'
import { keyObjectOf, registeredKey } from '../../credentials/public-keys.ts'
import { IDENTITY_COLUMNS, type Identity, type IdentityRow, identityOf } from '../../identity/identity.ts'

/** The only algorithm (RFC 9421 3.3.4): the signature is the concatenation of the two numbers. */
export const ALGORITHM = 'ecdsa-p256-sha256'
const SIGNATURE_BYTES = 64

interface SignerRow extends IdentityRow {
  readonly publicKey: unknown
  readonly fingerprint: string
  readonly createdBy: string
}

const FIND = sql<SignerRow, [ids: readonly string[]]>(`
select ${IDENTITY_COLUMNS}, c.public_key as "publicKey", c.fingerprint, c.created_by as "createdBy"
  from credentials c
  join organizations o on o.id = c.organization_id
 where c.id = any($1::uuid[]) and c.type = 'public_key' and c.sign_in_status is null
   and c.fingerprint is not null and c.created_by is not null`)

/** The holder of a registered public key, and the key for verifying its signatures. */
export interface Signer extends Verifier {
  readonly identity: Identity
}

/**
 * The registered keys with the given ids (UUIDs in lower case), as they are now: nothing is cached, so a revocation
 * takes effect at once. A sign-in key signs no requests (apps 1).
 */
export async function findSigners(db: Queryable, keyIds: readonly string[]): Promise<ReadonlyMap<string, Signer>> {
  const rows = await db.query(FIND, keyIds)
  return new Map(rows.map((row) => [row.id, signerOf(row)]))
}

function signerOf(row: SignerRow): Signer {
  const key = keyObjectOf(registeredKey(row).publicKey)
  if (key === undefined) throw new TypeError('a public key in the database is not on its curve')
  return {
    algorithm: ALGORITHM,
    identity: identityOf(row),
    verify: (data, signature) => verifies(key, data, signature),
  }
}

function verifies(key: KeyObject, data: Uint8Array, signature: Uint8Array): boolean {
  // For any other length Node throws, as for a programming error.
  if (signature.length !== SIGNATURE_BYTES) return false
  return createVerify('sha256').update(data).verify({ key, dsaEncoding: 'ieee-p1363' }, signature)
}
