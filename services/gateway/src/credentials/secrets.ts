import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { API_KEY_PREFIX_LENGTH } from '@restante/contracts/vocabulary'

export type Region = 'us' | 'eu'

/** A newly created key. The secret leaves the process once, in the response that creates it. */
export interface MintedSecret {
  readonly secret: string
  readonly prefix: string
  readonly hash: Buffer
}

/**
 * Everything that is derived from the installation's secret. Each purpose has a key of its own, so that a value of one
 * can never serve as a value of the other.
 */
export class Secrets {
  readonly #keyHashKey: KeyObject
  readonly #codeKey: KeyObject
  readonly #humanKey: KeyObject
  readonly #region: Region

  constructor(options: { installationSecret: string; region: Region }) {
    this.#keyHashKey = subkey(options.installationSecret, 'restante api keys')
    this.#codeKey = subkey(options.installationSecret, 'restante verification codes')
    this.#humanKey = subkey(options.installationSecret, 'restante humans')
    this.#region = options.region
  }

  /** 256 random bits after the installation's prefix (identity 1.1). */
  mint(): MintedSecret {
    const secret = `am_${this.#region}_${randomBytes(32).toString('hex')}`
    return { secret, prefix: secret.slice(0, API_KEY_PREFIX_LENGTH), hash: this.hash(secret) }
  }

  /** The value that is stored and looked up instead of a key: a stolen database gives no access (identity 2.1). */
  hash(token: string): Buffer {
    return createHmac('sha256', this.#keyHashKey).update(token).digest()
  }

  /** The id of a human, by the mailbox: the same for all organizations of the human, and not to be guessed (apps 6.2). */
  humanId(mailbox: string): string {
    return createHmac('sha256', this.#humanKey).update(mailbox).digest('base64url')
  }

  /** The six digits of a code, derived from its id so that they can be mailed again and are stored nowhere. */
  code(codeId: string): string {
    const digest = createHmac('sha256', this.#codeKey).update(codeId).digest()
    return (digest.readBigUInt64BE() % 1_000_000n).toString().padStart(6, '0')
  }
}

/**
 * A key object, because every request hashes its key: created from bytes each time it would cost four times as much.
 */
function subkey(secret: string, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)))
}
