import { createPrivateKey } from 'node:crypto'
import type { DkimKeys } from '@restante/mime'
import { ApiError } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { LRUCache } from 'lru-cache'

/** Most keys in memory: 1,000 of RSA-2048 take a few megabytes. */
const MOST = 1_000
/** A pair never changes; this only bounds how long the key of a deleted domain stays in memory. */
const KEPT_MS = 10 * 60_000

/**
 * The keys of custom domains. Their owner keeps them encrypted and hands them over by an authenticated call; here they
 * are in memory only.
 */
export class SigningKeys {
  readonly #owner: ServiceClient<'mail-send'> | undefined
  readonly #known = new LRUCache<string, DkimKeys>({ max: MOST, ttl: KEPT_MS })

  /** @param owner absent in an installation without custom domains. */
  constructor(owner: ServiceClient<'mail-send'> | undefined) {
    this.#owner = owner
  }

  /**
   * The key of a registration.
   * @throws ApiError 403 when it was deleted, or may not send; UpstreamError when its owner does not answer.
   */
  async of(registrationId: string): Promise<DkimKeys> {
    const known = this.#known.get(registrationId)
    if (known) return known
    const answer = await this.#owner?.call('domains-dns.getSigningKey', { domain_uid: registrationId })
    if (!answer?.key) throw new ApiError('domain_not_verified')
    const { domain, selector, private_key: pem } = answer.key
    const keys: DkimKeys = { domain, keys: [{ selector, privateKey: createPrivateKey(pem) }] }
    this.#known.set(registrationId, keys)
    return keys
  }
}
