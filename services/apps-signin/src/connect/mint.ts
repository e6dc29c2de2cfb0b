import { ApiError } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { notMinted } from './refusals.ts'

const OWNER_NOT_SHARED = "The API key lost 'app_share_owner' while the request was running."

export interface NewKey {
  readonly apiKeyId: string
  readonly organizationId: string
  readonly inboxUid: string
  /** The bearer key that asks for it. */
  readonly credentialId: string
  readonly expiresAt: Date
  /** Whether the agent accepts in advance that facts about the owner are shared, which the key must be allowed to. */
  readonly sharesOwner: boolean
}

/**
 * Creates a pending sign-in key at the gateway; a repeated call with its id creates nothing. The gateway decides what the
 * key may share by the rights that its creator has then.
 * @throws ApiError 403, 404 or 429 when it is refused (apps 2, rows 7 and 9).
 */
export async function mintKey(gateway: ServiceClient<'apps-signin'>, key: NewKey): Promise<void> {
  const minted = await gateway.call('gateway.mintSignInKey', {
    api_key_id: key.apiKeyId,
    organization_id: key.organizationId,
    inbox_uid: key.inboxUid,
    created_by: key.credentialId,
    expires_at: key.expiresAt.toISOString(),
  })
  if (minted.outcome !== 'minted') throw notMinted(minted)
  if (!key.sharesOwner || minted.app_share_owner) return
  await cancelKey(gateway, key.apiKeyId)
  throw new ApiError('missing_permission', { fix: OWNER_NOT_SHARED })
}

/**
 * Deletes a pending key that nothing refers to, so that it does not count as a sign-in that waits. When the gateway cannot
 * be reached, the key expires by itself.
 */
export async function cancelKey(gateway: ServiceClient<'apps-signin'>, apiKeyId: string): Promise<void> {
  await gateway.call('gateway.cancelSignInKey', { api_key_id: apiKeyId }).catch(() => {})
}
