import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { Database } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { KeyRing } from '@restante/service/secrets'
import type { Logger } from '@restante/service/telemetry'
import { type JWTPayload, SignJWT } from 'jose'
import type { PublicSigningKey } from './key-pair.ts'
import { reportKeys } from './metrics.ts'
import {
  ageOfNewestKey,
  countUnopenable,
  currentKey,
  deleteEndedKeys,
  makeDueKey,
  publishedKeys,
  type SigningKeyRow,
  sealAgain,
} from './store.ts'

interface SigningKeysOptions {
  readonly db: Database
  readonly ring: KeyRing
}

/** The keys that sign ID tokens. */
export class SigningKeys {
  readonly #db: Database
  readonly #ring: KeyRing
  /** The opened private key of the latest signature. */
  #opened: { readonly kid: string; readonly key: KeyObject } | undefined

  constructor({ db, ring }: SigningKeysOptions) {
    this.#db = db
    this.#ring = ring
  }

  /** The keys of the JWKS; the first one is made when there is none. */
  async published(): Promise<readonly PublicSigningKey[]> {
    const keys = await publishedKeys(this.#db)
    if (keys.length > 0) return keys
    await this.#current()
    return publishedKeys(this.#db)
  }

  /** Prepares to sign with the key that is current now. It needs the database, the signature itself does not. */
  async signer(): Promise<(claims: JWTPayload) => Promise<string>> {
    const row = await this.#current()
    const key = this.#open(row)
    return (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: row.kid }).sign(key)
  }

  async #current(): Promise<SigningKeyRow> {
    const row = await currentKey(this.#db)
    if (row !== undefined) return row
    await this.#db.transaction((tx) => makeDueKey(tx, this.#ring))
    const made = await currentKey(this.#db)
    if (made === undefined) throw new Error('no key signs ID tokens')
    return made
  }

  #open({ kid, private_key, sealed_with }: SigningKeyRow): KeyObject {
    if (this.#opened?.kid === kid) return this.#opened.key
    const key = createPrivateKey(this.#ring.open(kid, private_key, sealed_with))
    this.#opened = { kid, key }
    return key
  }
}

const EVERY_MS = 3_600_000

/**
 * Makes keys in time, deletes those that are no longer published, and seals what earlier encryption keys have sealed with
 * the current one, so that the earlier ones can be removed.
 */
export class SigningKeyRotation extends Periodic {
  constructor({ db, ring, log }: SigningKeysOptions & { readonly log: Logger }) {
    super({ name: 'rotation of signing keys', everyMs: EVERY_MS, log, work: () => rotate({ db, ring }, log) })
  }

  override async start(): Promise<void> {
    await super.start()
    this.notify()
  }
}

/** One round of the rotation. */
export async function rotate({ db, ring }: SigningKeysOptions, log: Logger): Promise<void> {
  const made = await db.transaction((tx) => makeDueKey(tx, ring))
  if (made) log.info('signing key created')
  const deleted = await deleteEndedKeys(db)
  if (deleted > 0) log.info({ keys: deleted }, 'signing keys deleted: no longer published')
  const sealed = await db.transaction((tx) => sealAgain(tx, ring))
  if (sealed > 0) log.info({ keys: sealed }, 'signing keys sealed with the current encryption key')
  const unopenable = await countUnopenable(db, ring)
  reportKeys({ ageSeconds: await ageOfNewestKey(db), unopenable })
  if (unopenable === 0) return
  log.error({ keys: unopenable }, 'signing keys cannot be opened: PREVIOUS_ENCRYPTION_KEYS lacks their key')
}
