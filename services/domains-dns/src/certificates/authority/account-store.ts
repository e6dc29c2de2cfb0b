import { generateKeyPairSync } from 'node:crypto'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { KeyRing } from '@restante/service/secrets'

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
const LOCK_SEALED_WITH = sql<
  Pick<AccountRow, 'private_key' | 'sealed_with'> & { readonly directory: string },
  [ids: readonly string[]]
>(
  `select directory, private_key, sealed_with from acme_accounts where sealed_with = any($1::text[])
   for update skip locked`,
)
const SEAL_AGAIN = sql<unknown, [directory: string, privateKey: Uint8Array, sealedWith: string]>(
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

  /** The account at an authority; its key is made at the first use. @throws DecryptionError */
  async of(directory: string): Promise<Account> {
    const context = contextOf(directory)
    const [known] = await this.#db.query(FIND, directory)
    const row = known ?? (await this.#create(directory, context))
    const privateKey = this.#keys.open(context, row.private_key, row.sealed_with)
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

  /** Seals keys that an earlier encryption key has sealed with the current one, those of unused accounts included. */
  async sealAgain(tx: Tx): Promise<void> {
    for (const { directory, private_key, sealed_with } of await tx.query(LOCK_SEALED_WITH, this.#keys.previous)) {
      const context = contextOf(directory)
      const { sealed, sealedWith } = this.#keys.seal(context, this.#keys.open(context, private_key, sealed_with))
      await tx.query(SEAL_AGAIN, directory, sealed, sealedWith)
    }
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
