import type { ApiKey, BearerKey, PublicKeyCredential } from '@restante/contracts/resources'
import type { PublicJwk } from '@restante/contracts/schemas'
import { rightsFromRow } from '../identity/rights.ts'
import { permissionsOnWire } from './grants.ts'
import { provenKey, registeredKey } from './public-keys.ts'
import type { BoundCredential } from './store.ts'

/** A credential as shown by list, get and update; never a secret (identity 3.2). */
export function apiKeyDocument(row: BoundCredential): ApiKey {
  return row.type === 'public_key' ? publicKeyDocument(row) : bearerDocument(row)
}

export function bearerDocument(row: BoundCredential): BearerKey {
  return {
    type: 'bearer',
    api_key_id: row.id,
    prefix: row.prefix ?? '',
    name: row.name,
    ...(row.tier === 'pod' && row.podId !== null ? { pod_id: row.podId } : {}),
    ...(row.tier === 'inbox' && row.inbox !== null ? { inbox_id: row.inbox.address } : {}),
    permissions: permissionsOnWire(rightsFromRow(row)),
    ...timesOf(row),
  }
}

/** For a public key the pod of its inbox is shown too. */
export function publicKeyDocument(row: BoundCredential): PublicKeyCredential {
  const { createdBy } = registeredKey(row)
  return {
    type: 'public_key',
    api_key_id: row.id,
    client_id: row.clientId ?? undefined,
    name: row.name,
    ...shownKey(row),
    pod_id: row.podId ?? undefined,
    inbox_id: row.inbox?.address,
    permissions: permissionsOnWire(rightsFromRow(row)) ?? {},
    created_by: { api_key_id: createdBy },
    ...timesOf(row),
  }
}

/** The key of a sign-in key is shown once its possession was proven (apps 4). */
function shownKey(row: BoundCredential): Pick<PublicKeyCredential, 'status' | 'public_key'> {
  if (row.signInStatus === null) return { public_key: keyOf(registeredKey(row)) }
  const proven = provenKey(row)
  return proven === undefined ? { status: 'pending' } : { status: 'active', public_key: keyOf(proven) }
}

function keyOf({ publicKey: jwk, fingerprint }: { publicKey: PublicJwk; fingerprint: string }) {
  return { jwk, fingerprint }
}

function timesOf(row: BoundCredential) {
  return {
    used_at: row.usedAt?.toISOString(),
    expires_at: row.expiresAt?.toISOString(),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
