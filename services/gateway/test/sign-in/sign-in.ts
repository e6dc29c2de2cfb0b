import { randomUUID } from 'node:crypto'
import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import type { PublicJwk } from '@restante/contracts/schemas'
import { sql } from '@restante/service/database'
import { ServiceClient } from '@restante/service/http'
import { type Answer, type Api, PEER_KEY, startGateway, type TestGateway } from '../gateway.ts'
import { newKey, type TestKey } from '../signatures/signing.ts'

export type Minting = InternalRequestOf<'gateway.mintSignInKey'>

/** An organization with one inbox, and its unrestricted key. */
export interface Seeded {
  readonly id: string
  readonly api: Api
  readonly inbox: string
  readonly inboxUid: string
  readonly creator: string
}

const EXPIRE = sql<never, [id: string]>("update credentials set expires_at = now() - interval '1 s' where id = $1")

/** A gateway, and apps-signin as it calls the gateway. */
export class SignIn {
  readonly gateway: TestGateway
  readonly client: ServiceClient<'apps-signin'>
  #names = 0

  private constructor(gateway: TestGateway) {
    this.gateway = gateway
    this.client = new ServiceClient({ from: 'apps-signin', to: 'gateway', url: gateway.url, key: PEER_KEY })
  }

  static async start(overrides: Record<string, string> = {}): Promise<SignIn> {
    return new SignIn(await startGateway(overrides))
  }

  async stop(): Promise<void> {
    await this.client.stop()
    await this.gateway.stop()
  }

  async seed(): Promise<Seeded> {
    const { id, api } = await this.gateway.organization()
    const { body } = await api.post('/v0/inboxes', { username: `bot-${this.#names++}`, display_name: 'Bot' })
    const inbox = String(body['inbox_id'])
    const { uid: inboxUid } = await this.gateway.db.orm.inbox.findFirstOrThrow({ where: { address: inbox } })
    const me = await api.get('/v0/auth/me')
    return { id, api, inbox, inboxUid, creator: String(me.body['api_key_id']) }
  }

  /** A bearer key of its own, with these permissions. */
  async bearer({ api }: Pick<Seeded, 'api'>, permissions: object, path = '/v0/api-keys') {
    const { body } = await api.post(path, { permissions })
    return { id: String(body['api_key_id']), api: this.gateway.as(String(body['api_key'])) }
  }

  request(seeded: Seeded, more: Partial<Minting> = {}): Minting {
    const expires_at = new Date(Date.now() + 240_000).toISOString()
    const { id: organization_id, inboxUid: inbox_uid, creator: created_by } = seeded
    return { api_key_id: randomUUID(), organization_id, inbox_uid, created_by, expires_at, ...more }
  }

  mint(given: Minting): Promise<InternalResponseOf<'gateway.mintSignInKey'>> {
    // Fifty at once take turns, which on a busy machine takes longer than a call may.
    return this.client.call('gateway.mintSignInKey', given, 30_000)
  }

  activate(api_key_id: string, jwk: PublicJwk = newKey().jwk) {
    return this.client.call('gateway.activateSignInKey', { api_key_id, jwk })
  }

  cancel(api_key_id: string) {
    return this.client.call('gateway.cancelSignInKey', { api_key_id })
  }

  facts(api_key_id: string, used = false) {
    return this.client.call('gateway.getSignInFacts', { api_key_id, used })
  }

  /** A pending key. @returns its id. */
  async minted(seeded: Seeded, more: Partial<Minting> = {}): Promise<string> {
    const given = this.request(seeded, more)
    const { outcome } = await this.mint(given)
    if (outcome !== 'minted') throw new Error(`the key was not minted: ${outcome}`)
    return given.api_key_id
  }

  async active(seeded: Seeded, more: Partial<Minting> = {}): Promise<TestKey & { readonly id: string }> {
    const key = newKey()
    const id = await this.minted(seeded, more)
    const { outcome } = await this.activate(id, key.jwk)
    if (outcome !== 'activated') throw new Error(`the key was not activated: ${outcome}`)
    return { id, ...key }
  }

  async shown({ api }: Pick<Seeded, 'api'>, id: string): Promise<Answer['body']> {
    return (await api.get(`/v0/api-keys/${id}`)).body
  }

  async expire(id: string): Promise<void> {
    await this.gateway.db.query(EXPIRE, id)
  }
}
