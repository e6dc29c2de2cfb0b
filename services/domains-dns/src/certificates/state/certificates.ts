import type { TrackingCertificate } from '@restante/contracts/internal'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { KeyRing } from '@restante/service/secrets'
import type { IssuedCertificate } from '../authority/authority.ts'
import { renewalAt } from '../rules/schedule.ts'

interface SealedCertificate {
  readonly chain: string
  readonly private_key: Uint8Array
  readonly sealed_with: string
  readonly not_after: Date
}

const FIND = sql<SealedCertificate, [name: string]>(
  `select chain, private_key, sealed_with, not_after from tracking_certificates where name = $1 and not_after > now()`,
)
const HAS = sql<{ name: string }, [name: string]>(
  'select name from tracking_certificates where name = $1 and not_after > now()',
)
const SAVE = sql<
  unknown,
  [
    name: string,
    directory: string,
    chain: string,
    privateKey: Uint8Array,
    sealedWith: string,
    notBefore: Date,
    notAfter: Date,
    renewAt: Date,
  ]
>(
  `insert into tracking_certificates
     (name, directory, chain, private_key, sealed_with, not_before, not_after, renew_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (name) do update set
     directory = excluded.directory, chain = excluded.chain, private_key = excluded.private_key,
     sealed_with = excluded.sealed_with, not_before = excluded.not_before, not_after = excluded.not_after,
     renew_at = excluded.renew_at`,
)
const LOCK = sql<{ not_after: Date }, [name: string]>(
  'select not_after from tracking_certificates where name = $1 for update',
)
const DELETE = sql<DroppedCertificate, [name: string]>(
  'delete from tracking_certificates where name = $1 returning directory, chain, not_after',
)
const DELETE_EXPIRED = sql<unknown, [name: string]>(
  'delete from tracking_certificates where name = $1 and not_after <= now()',
)

const LOCK_SEALED_WITH = sql<
  Pick<SealedCertificate, 'private_key' | 'sealed_with'> & { readonly name: string },
  [ids: readonly string[], rows: number]
>(
  `select name, private_key, sealed_with from tracking_certificates where sealed_with = any($1::text[])
   limit $2 for update skip locked`,
)
const SEAL_AGAIN = sql<unknown, [name: string, privateKey: Uint8Array, sealedWith: string]>(
  'update tracking_certificates set private_key = $2, sealed_with = $3 where name = $1',
)

/** A certificate without its key. */
export interface DroppedCertificate {
  readonly directory: string
  readonly chain: string
  readonly not_after: Date
}

/** The certificates of tracking hosts, by registered name. Their keys are sealed, each for its name. */
export class CertificateStore {
  readonly #keys: KeyRing

  constructor(keys: KeyRing) {
    this.#keys = keys
  }

  /** The certificate of a name with its key; undefined when there is none that is still valid. */
  async find(on: Queryable, name: string): Promise<TrackingCertificate | undefined> {
    const [row] = await on.query(FIND, name)
    if (!row) return undefined
    const private_key = this.#keys.open(contextOf(name), row.private_key, row.sealed_with)
    return { chain: row.chain, private_key, not_after: row.not_after.toISOString() }
  }

  /** Whether a name has a certificate that is still valid. */
  async has(on: Queryable, name: string): Promise<boolean> {
    return (await on.query(HAS, name)).length > 0
  }

  /** Stores a certificate in place of the previous one. @returns when it is to be renewed. */
  async save(tx: Tx, name: string, directory: string, issued: IssuedCertificate): Promise<Date> {
    const { chain, privateKey, notBefore, notAfter } = issued
    const { sealed, sealedWith } = this.#keys.seal(contextOf(name), privateKey)
    const renewAt = renewalAt(notBefore, notAfter)
    await tx.query(SAVE, name, directory, chain, sealed, sealedWith, notBefore, notAfter, renewAt)
    return renewAt
  }

  /** Locks the certificate of a name. @returns when it expires. */
  async lock(tx: Tx, name: string): Promise<Date | undefined> {
    const [row] = await tx.query(LOCK, name)
    return row?.not_after
  }

  /** Deletes the certificate of a name with its key. */
  async delete(tx: Tx, name: string): Promise<DroppedCertificate | undefined> {
    const [row] = await tx.query(DELETE, name)
    return row
  }

  /** Seals keys that an earlier encryption key has sealed with the current one. */
  async sealAgain(tx: Tx, rows: number): Promise<void> {
    for (const { name, private_key, sealed_with } of await tx.query(LOCK_SEALED_WITH, this.#keys.previous, rows)) {
      const context = contextOf(name)
      const { sealed, sealedWith } = this.#keys.seal(context, this.#keys.open(context, private_key, sealed_with))
      await tx.query(SEAL_AGAIN, name, sealed, sealedWith)
    }
  }

  async deleteExpired(tx: Tx, name: string): Promise<void> {
    await tx.query(DELETE_EXPIRED, name)
  }
}

function contextOf(name: string): string {
  return `certificate of ${name}`
}
