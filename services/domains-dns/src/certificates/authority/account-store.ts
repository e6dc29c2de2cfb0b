import { generateKeyPairSync } from 'node:crypto'
import { type Queryable, sql } from '@restante/service/database'
import type { KeyRing } from '../../keys/key-ring.ts'

interface AccountRow {
  readonly private_key: Uint8Array
  readonly sealed_with: string
  readonly url: string | null
}

const FIND = sql<AccountRow, [directory: string]>(
  'select private_key, sealed_with, url from acme_accounts where directory = $1',
)
const INSERT = sql<unknown, [directory: string, privateKey: Uint8Array, sealedWith: string]>(
  'insert into acme_accounts (directory, private_key, sealed_with) values ($1, $2, $3) on conflict do nothing',
)
const RESEAL = sql<unknown, [directory: string, privateKey: Uint8Array, sealedWith: string]>(
  'update acme_accounts set private_key = $2, sealed_with = $3 where directory = $1',
)
const SET_URL = sql<unknown, [directory: string, url: string | null]>(
  'update acme_accounts set url = $2 where directory = $1',
)

/** The account of this installation at an authority. */
export interface Account {
  /** PKCS #8 in PEM. */
  readonly privateKey: string
  /** Undefined: not registered yet. */
  readonly url: string | undefined
}

/** Keeps the account's key, sealed. One key per authority, whichever replica needs it first. */
export class AccountStore {
  readonly #db: Queryable
  readonly #keys: KeyRing

  constructor(db: Queryable, keys: KeyRing) {
    this.#db = db
    this.#keys = keys
  }

  /** The account at an authority; its key is made at the first use, and sealed anew after a change of the encryption key. */
  async of(directory: string): Promise<Account> {
    const context = contextOf(directory)
    const [known] = await this.#db.query(FIND, directory)
    const row = known ?? (await this.#create(directory, context))
    const privateKey = this.#keys.open(context, row.private_key, row.sealed_with)
    if (row.sealed_with !== this.#keys.current) {
      const { sealed, sealedWith } = this.#keys.seal(context, privateKey)
      await this.#db.query(RESEAL, directory, sealed, sealedWith)
    }
    return { privateKey, url: row.url ?? undefined }
  }

  async #create(directory: string, context: string): Promise<AccountRow> {
    const { sealed, sealedWith } = this.#keys.seal(context, newPrivateKey())
    await this.#db.query(INSERT, directory, sealed, sealedWith)
    // Another replica may have been first.
    const [row] = await this.#db.query(FIND, directory)
    if (!row) throw new Error(`the account at ${directory} was deleted while it was created`)
    return row
  }

  /** @param url undefined: the authority does not know the account any more. */
  async setUrl(directory: string, url: string | undefined): Promise<void> {
    await this.#db.query(SET_URL, directory, url ?? null)
  }
}

function contextOf(directory: string): string {
  return `account at ${directory}`
}

/** A new ECDSA key on P-256, as PKCS #8 in PEM. */
export function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return privateKey
}
