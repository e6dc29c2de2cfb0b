import { type Queryable, sql } from '@restante/service/database'
import type { KeyRing } from '@restante/service/secrets'
import type { SigningPair } from './dkim.ts'

interface KeyRow {
  readonly domain: string
  readonly selector: string
  readonly private_key: Uint8Array
  readonly sealed_with: string
}
const FIND = sql<KeyRow, [uid: string]>(
  'select name as domain, selector, private_key, sealed_with from domain_keys join domains on uid = domain_uid where uid = $1',
)

/** The pair of a registration, whether it may send or not; undefined when no key of the installation opens it. */
export async function findPair(on: Queryable, ring: KeyRing, uid: string): Promise<SigningPair | undefined> {
  const [row] = await on.query(FIND, uid)
  if (!row) return undefined
  const { domain, selector, private_key: sealed, sealed_with: sealedWith } = row
  try {
    return { domain, selector, privateKey: ring.open(uid, sealed, sealedWith) }
  } catch {
    // An operator who has lost an earlier ENCRYPTION_KEY; `KeyRotation` reports it.
    return undefined
  }
}
