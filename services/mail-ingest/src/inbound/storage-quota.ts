import { type Queryable, sql } from '@restante/service/database'

export interface StorageQuotaOptions {
  readonly db: Queryable
  /** Bytes of one organization's stored mail; undefined: no limit. */
  readonly limit: number | undefined
}

interface Measured {
  bytes: number
  /** On the monotonic clock. */
  until: number
}

const STORED = sql<{ bytes: string }, [organizationId: string]>(
  'select coalesce(sum(size), 0)::text as bytes from threads where organization_id = $1',
)

const FRESH_MS = 10_000
/**
 * A measurement is valid for this many times its duration, so that measuring takes one percent of the database's time.
 */
const COST_FACTOR = 100
const CAPACITY = 10_000

/**
 * Limits how much mail an organization may store (mail 13), measured by the sizes of its threads. Between two
 * measurements this process adds what it accepts itself; what other processes accept in that time may exceed the limit.
 */
export class StorageQuota {
  readonly #options: StorageQuotaOptions
  /** By organization, in the order of their measurement. */
  readonly #measured = new Map<string, Measured>()
  readonly #measuring = new Map<string, Promise<Measured>>()

  constructor(options: StorageQuotaOptions) {
    this.#options = options
  }

  /** Whether the organization may store another mail. @param bytes of the mail, as far as known. */
  async hasRoom(organizationId: string, bytes: number): Promise<boolean> {
    const { limit } = this.#options
    if (limit === undefined) return true
    return (await this.#of(organizationId)).bytes + bytes <= limit
  }

  /** Adds a mail that was accepted. */
  add(organizationId: string, bytes: number): void {
    const measured = this.#measured.get(organizationId)
    if (measured) measured.bytes += bytes
  }

  async #of(organizationId: string): Promise<Measured> {
    const known = this.#measured.get(organizationId)
    if (known && known.until > performance.now()) return known
    const current = this.#measuring.get(organizationId)
    if (current) return current
    const measuring = this.#measure(organizationId)
    this.#measuring.set(organizationId, measuring)
    try {
      const measured = await measuring
      this.#remember(organizationId, measured)
      return measured
    } finally {
      this.#measuring.delete(organizationId)
    }
  }

  #remember(organizationId: string, measured: Measured): void {
    this.#measured.delete(organizationId)
    this.#measured.set(organizationId, measured)
    for (const oldest of this.#measured.keys()) {
      if (this.#measured.size <= CAPACITY) return
      this.#measured.delete(oldest)
    }
  }

  async #measure(organizationId: string): Promise<Measured> {
    const begun = performance.now()
    const [row] = await this.#options.db.query(STORED, organizationId)
    const now = performance.now()
    return { bytes: Number(row?.bytes ?? 0), until: now + Math.max(FRESH_MS, COST_FACTOR * (now - begun)) }
  }
}
