import { hash, randomBytes } from 'node:crypto'
import { API_KEY_START, LIMITS } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { Region, Secrets } from '../../credentials/secrets.ts'
import { findByHash, findByHashes } from '../../identity/find.ts'
import type { Identity } from '../../identity/identity.ts'
import { SharedLookup } from './shared-lookup.ts'

/** How long a key counts as recently valid here, in milliseconds. */
const GOOD_MS = 10 * 60_000

interface Entry {
  readonly lookup: Promise<Identity | undefined>
  /**
   * Counted from when the query was sent: a result is never trusted for longer than the bound. On the monotonic clock:
   * if the wall clock were set back, a revoked key could live on for that long.
   */
  readonly until: number
  organizationId: string | undefined
}

export interface KeyLookupOptions {
  readonly db: Queryable
  readonly secrets: Secrets
  readonly region: Region
  /** API of the other region, named to callers that use its keys here. */
  readonly otherRegionUrl: string | undefined
  /** Most cached keys. Default 10,000. */
  readonly capacity?: number
}

/**
 * Finds the holder of a key by the key's hash. Positive results are cached for at most a second: that is the bound
 * within which a revocation takes effect in every process, with no invalidation channel that could fail (identity 2.1).
 * Changes made by this process take effect at once (`forget`). Concurrent requests for one key share one query.
 */
export class KeyLookup {
  readonly #options: KeyLookupOptions
  readonly #capacity: number
  readonly #entries = new Map<string, Entry>()
  /** Until when a key counts as recently valid, in the order of these times. Such a key is still looked up. */
  readonly #good = new Map<string, number>()
  readonly #shared: SharedLookup<Identity>
  /** Salt for hashing keys: the map's entries cannot be derived outside of this process. */
  readonly #salt = randomBytes(32).toString('base64url')

  constructor(options: KeyLookupOptions) {
    this.#options = options
    this.#capacity = options.capacity ?? 10_000
    this.#shared = new SharedLookup({ find: (hashes) => findByHashes(options.db, hashes) })
  }

  /**
   * @param sparingly for a client that has sent too many bad keys: one that was not valid here recently costs no query
   * of its own (`SharedLookup`).
   * @throws ApiError 401 for a key that is unknown or expired.
   */
  async authenticate(token: string, sparingly = false): Promise<Identity> {
    const identity = token.startsWith(API_KEY_START) ? await this.#find(token, sparingly) : undefined
    if (identity === undefined) throw this.#unknown(token)
    if (identity.expiresAt <= Date.now()) throw new ApiError('api_key_expired')
    return identity
  }

  /** Drops everything cached about an organization's keys, and every query in flight. */
  forget(organizationId: string): void {
    for (const [key, entry] of this.#entries) {
      if (entry.organizationId === undefined || entry.organizationId === organizationId) this.#entries.delete(key)
    }
  }

  #find(token: string, sparingly: boolean): Promise<Identity | undefined> {
    // No key is kept in memory, and keys are compared only by a keyed hash. This hash costs a sixth of the stored one.
    const key = hash('sha256', this.#salt + token, 'base64')
    const now = performance.now()
    const known = this.#entries.get(key)
    if (known !== undefined && known.until > now) return known.lookup
    const shared = sparingly && (this.#good.get(key) ?? 0) <= now
    return this.#remember(key, now, shared ? this.#shared.ask(this.#hashOf(token)) : this.#read(token))
  }

  #read(token: string): Promise<Identity | undefined> {
    return findByHash(this.#options.db, this.#options.secrets.hash(token))
  }

  #hashOf(token: string): string {
    return this.#options.secrets.hash(token).toString('hex')
  }

  #remember(key: string, now: number, lookup: Promise<Identity | undefined>): Promise<Identity | undefined> {
    const entry: Entry = { lookup, until: now + LIMITS.apiKey.cache, organizationId: undefined }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#evict(now)
    lookup.then(
      (identity) => {
        // Only positive results are cached: a key that is created a moment later must work at once.
        if (identity !== undefined) {
          entry.organizationId = identity.organizationId
          this.#noteGood(key, now)
        } else if (this.#entries.get(key) === entry) this.#entries.delete(key)
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key)
      },
    )
    return lookup
  }

  #noteGood(key: string, now: number): void {
    this.#good.delete(key)
    this.#good.set(key, now + GOOD_MS)
    for (const [old, until] of this.#good) {
      if (until > now && this.#good.size <= this.#capacity) return
      this.#good.delete(old)
    }
  }

  /**
   * The map is in the order of the queries, so the oldest are evicted first: expired entries, or one beyond the
   * capacity.
   */
  #evict(now: number): void {
    for (const [key, entry] of this.#entries) {
      if (entry.until > now && this.#entries.size <= this.#capacity) return
      this.#entries.delete(key)
    }
  }

  #unknown(token: string): ApiError {
    const { region, otherRegionUrl } = this.#options
    const other = region === 'us' ? 'eu' : 'us'
    if (!token.startsWith(`${API_KEY_START}${other}_`)) return new ApiError('unknown_api_key')
    const where = otherRegionUrl === undefined ? `the ${other.toUpperCase()} installation` : otherRegionUrl
    return new ApiError('unknown_api_key', { fix: `This key belongs to another region. Send it to ${where}.` })
  }
}
