import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import {
  type InternalOperationId,
  type InternalRequestOf,
  type InternalResponseOf,
  internalOperations,
  type SignInCredential,
  type SignInInbox,
  type SignInOwner,
} from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'

type Organization = 'active' | 'suspended' | 'unverified'
type Answer<Id extends InternalOperationId> = (
  request: InternalRequestOf<Id>,
) => InternalResponseOf<Id> | Promise<InternalResponseOf<Id>>
type Answers = { readonly [Id in Asked]: Answer<Id> }

const ASKED = [
  'gateway.confirmCaller',
  'gateway.mintSignInKey',
  'gateway.activateSignInKey',
  'gateway.cancelSignInKey',
  'gateway.getSignInFacts',
  'gateway.lookupInboxes',
  'gateway.mailHuman',
] as const
type Asked = (typeof ASKED)[number]

/**
 * The gateway at its wire: it answers as the contracts of its internal operations say, from tables that a test fills. A
 * test replaces single answers with `answers`.
 */
export class FakeGateway {
  readonly credentials = new Map<string, SignInCredential>()
  readonly inboxes = new Map<string, SignInInbox>()
  /** Organizations that are not here are active. */
  readonly organizations = new Map<string, Organization>()
  /** The verified human of an organization. */
  readonly owners = new Map<string, SignInOwner>()
  /** Credentials whose use was noted, in order. */
  readonly used: string[] = []
  readonly mails: InternalRequestOf<'gateway.mailHuman'>[] = []
  readonly calls: { readonly operation: string; readonly request: unknown }[] = []
  /** Answers in place of the usual ones; one that throws is an outage. */
  answers: Partial<Answers> = {}
  /** Whether agents hold `app_share_owner`, which the keys that they create copy. */
  sharesOwner = true
  url = ''

  readonly #usual: Answers = {
    'gateway.confirmCaller': ({ caller }) => ({ status: 'confirmed', caller }),
    'gateway.mintSignInKey': (request) => this.#mint(request),
    'gateway.activateSignInKey': ({ api_key_id, jwk }) => {
      const key = this.#live(api_key_id)
      if (key?.family !== 'sign_in') return { outcome: 'gone' }
      const expires_at = new Date(Date.now() + LIMITS.app.signInKey).toISOString()
      const isUsed = [...this.credentials.values()].some((other) => other !== key && other.jwk?.x === jwk.x)
      if (isUsed) return { outcome: 'used' }
      this.credentials.set(api_key_id, { ...key, status: 'active', jwk, expires_at })
      return { outcome: 'activated', expires_at }
    },
    'gateway.cancelSignInKey': ({ api_key_id }) => {
      const isPending = this.credentials.get(api_key_id)?.status === 'pending'
      return { cancelled: isPending && this.credentials.delete(api_key_id) }
    },
    'gateway.getSignInFacts': (request) => this.#facts(request),
    'gateway.lookupInboxes': ({ organization_id, pod_id, inbox_uid, inboxes }) => {
      const found = inboxes.flatMap((given) => {
        const inbox = [...this.inboxes.values()].find((each) => isNamed(each, { address: given }))
        const isIn = inbox?.organization_id === organization_id && (pod_id ?? inbox.pod_id) === inbox.pod_id
        return isIn && (inbox_uid ?? inbox.inbox_uid) === inbox.inbox_uid ? [{ given, ...inbox }] : []
      })
      return { inboxes: found, pods: [] }
    },
    'gateway.mailHuman': (request) => {
      const { organization_id, owner_id } = request
      const owner = this.owners.get(organization_id)
      const mailed = owner !== undefined && (owner_id ?? owner.id) === owner.id
      if (mailed) this.mails.push(request)
      return { mailed }
    },
  }
  readonly #server: Server = createServer(async (request, response) => {
    const operation = ASKED.find((id) => internalOperations[id].path === request.url)
    const body: unknown = await json(request)
    this.calls.push({ operation: operation ?? '', request: body })
    const answer = operation ? await this.#answer(operation, body).catch(() => undefined) : {}
    response.statusCode = operation ? (answer === undefined ? 503 : 200) : 404
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer ?? {}))
  })

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    this.url = `http://127.0.0.1:${address.port}`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** The requests of one operation. */
  requests<Id extends Asked>(operation: Id): InternalRequestOf<Id>[] {
    return this.calls.flatMap((call) => (call.operation === operation ? [parse(operation, call.request)] : []))
  }

  async #answer<Id extends Asked>(id: Id, body: unknown): Promise<unknown> {
    const answer: Answer<Id> = this.answers[id] ?? this.#usual[id]
    return answer(parse(id, body))
  }

  #mint({
    api_key_id,
    organization_id,
    inbox_uid,
    created_by,
    expires_at,
  }: InternalRequestOf<'gateway.mintSignInKey'>) {
    const inbox = this.inboxes.get(inbox_uid)
    if (inbox?.organization_id !== organization_id) return { outcome: 'refused', because: 'inbox' } as const
    const known = this.credentials.get(api_key_id)
    const key: SignInCredential = known ?? {
      api_key_id,
      family: 'sign_in',
      status: 'pending',
      organization_id,
      pod_id: inbox.pod_id,
      inbox_uid,
      app_connect: true,
      app_share_owner: this.sharesOwner,
      created_by,
      expires_at,
    }
    this.credentials.set(api_key_id, key)
    return { outcome: 'minted', app_share_owner: key.app_share_owner } as const
  }

  #facts({ api_key_id, inbox: named, used }: InternalRequestOf<'gateway.getSignInFacts'>) {
    const credential = api_key_id === undefined ? undefined : this.#live(api_key_id)
    if (credential && used) this.used.push(credential.api_key_id)
    const inbox = named && [...this.inboxes.values()].find((each) => isNamed(each, named))
    const owner = inbox && this.owners.get(inbox.organization_id)
    return {
      ...(credential && { credential }),
      ...(inbox && { inbox, organization: this.organizations.get(inbox.organization_id) ?? 'active' }),
      ...(owner && { owner }),
    }
  }

  #live(id: string): SignInCredential | undefined {
    const key = this.credentials.get(id)
    return key?.expires_at !== undefined && Date.parse(key.expires_at) <= Date.now() ? undefined : key
  }
}

function isNamed(inbox: SignInInbox, named: { readonly address: string } | { readonly uid: string }): boolean {
  return 'uid' in named ? inbox.inbox_uid === named.uid : inbox.address === named.address.toLowerCase()
}

function parse<Id extends Asked>(id: Id, body: unknown): InternalRequestOf<Id> {
  // The schema of this operation determines its request type; the table of all operations cannot tell the compiler.
  return internalOperations[id].body.parse(body) as InternalRequestOf<Id>
}
