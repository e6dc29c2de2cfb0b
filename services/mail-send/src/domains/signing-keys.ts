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
  readonly #owner: ServiceClient<'mail-send'>
  readonly #known: LRUCache<string, DkimKeys>

  constructor(owner: ServiceClient<'mail-send'>) {
    this.#owner = owner
    const fetchMethod = (id: string) => this.#ask(id)
    this.#known = new LRUCache({ max: MOST, ttl: KEPT_MS, fetchMethod })
  }

  /**
   * The key of a registration. Those who need it at the same time wait for one answer.
   * @throws ApiError 403 when it was deleted, or may not send; UpstreamError when its owner does not answer.
   */
  async of(registrationId: string): Promise<DkimKeys> {
    const keys = await this.#known.fetch(registrationId)
    if (!keys) throw new ApiError('domain_not_verified')
    return keys
  }

  async #ask(registrationId: string): Promise<DkimKeys | undefined> {
    const answer = await this.#owner.call('domains-dns.getSigningKey', { domain_uid: registrationId })
    if (!answer.key) return undefined
    const { domain, selector, private_key: pem } = answer.key
    return { domain, keys: [{ selector, privateKey: createPrivateKey(pem) }] }
  }
}
