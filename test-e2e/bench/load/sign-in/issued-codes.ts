import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Endpoints } from '../../../stack/endpoints.ts'
import type { RegisteredApp } from '../../../support/apps/registration.ts'
import { type Exchange, newVerifier } from './exchange.ts'
import { REDIRECT_URI, SCOPE } from './sign-ins.ts'

/** An inbox that has signed in, and the key that it did so with. */
interface SignedIn {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly address: string
  readonly api_key_id: string
}

const INSERT = `insert into codes (hash, jti, app_id, client_id, redirect_uri, code_challenge, scopes, nonce,
   organization_id, pod_id, inbox_uid, address, api_key_id, owner_approved, auth_time, expires_at)
 values ($1, $2, $3::uuid, $3::text, $4, $5, $6, $7, $8, $9, $10, $11, $12, false, now(), now() + interval '1 minute')`

/**
 * Codes that are stored as the service stores them, without the sign-ins before. The inboxes have signed in before, so
 * their keys are good. The apps take turns, since each may only exchange so many in a minute; so do the inboxes, in an
 * order that mixes organizations. Nearly all are the first sign-in of an inbox at its app.
 */
export class IssuedCodes {
  readonly #client: pg.Client
  readonly #apps: readonly RegisteredApp[]
  readonly #inboxes: readonly SignedIn[]
  #issued = 0

  private constructor(client: pg.Client, apps: readonly RegisteredApp[], inboxes: readonly SignedIn[]) {
    this.#client = client
    this.#apps = apps
    this.#inboxes = inboxes
  }

  static async open({ databases }: Endpoints, apps: readonly RegisteredApp[]): Promise<IssuedCodes> {
    const client = new pg.Client({ connectionString: databases['apps-signin'] })
    await client.connect()
    const { rows } = await client.query<SignedIn>(
      'select organization_id, pod_id, inbox_uid, address, api_key_id from codes order by inbox_uid',
    )
    return new IssuedCodes(client, apps, rows)
  }

  async issue(count: number): Promise<readonly Exchange[]> {
    const issued: Exchange[] = []
    while (issued.length < count) issued.push(await this.#one())
    return issued
  }

  async #one(): Promise<Exchange> {
    const [at, turn] = [this.#issued % this.#apps.length, Math.floor(this.#issued / this.#apps.length)]
    this.#issued++
    const app = this.#apps[at]
    const inbox = this.#inboxes[(at + turn) % this.#inboxes.length]
    if (app === undefined || inbox === undefined) throw new Error('there is no app, or no inbox has signed in')
    const { appId: clientId, clientSecret } = app
    const { verifier, challenge } = newVerifier()
    const code = randomBytes(32).toString('base64url')
    const hash = createHash('sha256').update(code).digest()
    const jti = randomBytes(16).toString('base64url')
    const { organization_id, pod_id, inbox_uid, address, api_key_id } = inbox
    await this.#client.query(INSERT, [
      ...[hash, jti, clientId, REDIRECT_URI, challenge, SCOPE.split(' '), jti],
      ...[organization_id, pod_id, inbox_uid, address, api_key_id],
    ])
    return { clientId, clientSecret, redirectUri: REDIRECT_URI, code, verifier }
  }

  stop(): Promise<void> {
    return this.#client.end()
  }
}
