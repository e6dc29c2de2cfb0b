import {
  isPermission,
  type OperationDefinition,
  operations,
  PERMISSIONS,
  type Permission,
  type PermissionGrant,
  pathsOf,
  type Tier,
  UPGRADE,
} from '@restante/contracts'
import {
  type Access,
  accessBelowWrongParent,
  accessOf,
  CREDENTIALS,
  type Credential,
  demandedPermission,
} from '@restante/contracts/testing'
import { HandshakeRefusedError, StreamClient } from '@restante/testkit'
import { type Answer, Api } from './support/api.ts'
import {
  type AgentCredential,
  buildAgentEstate,
  buildEstate,
  type Estate,
  type Names,
  pathTo,
} from './support/estate.ts'
import { rightCall } from './support/right-calls.ts'
import { useSystem } from './support/suite.ts'

/** Every operation under each of its prefixes. */
const routes = Object.values<OperationDefinition>(operations).flatMap((operation) =>
  pathsOf(operation).map(({ tier, path }) => ({ name: `${operation.method} ${path}`, operation, prefix: tier })),
)

/** Who asks: a kind of credential, with the operation's permission or without it. */
interface Question {
  readonly credential: Credential
  readonly permitted: boolean
}

/** What came back, in the terms of the table. `wrong` is whatever no answer may hold or lack. */
interface Observed {
  readonly status: number
  readonly code?: string
  readonly missing?: string
  readonly wrong: readonly string[]
}

const questions: readonly Question[] = Object.keys(CREDENTIALS)
  .filter(isCredential)
  .flatMap((credential) => {
    // An agent that is not verified has one key, which holds everything: none with less can be made.
    const whole = credential === 'none' || agentOf(credential) !== undefined
    return [{ credential, permitted: true }, ...(whole ? [] : [{ credential, permitted: false }])]
  })

/** What no public key can be given (identity 3.3). */
const BEARER_ONLY: Permission = 'account_update'
/** No JSON: whoever reads it answers 400. */
const BROKEN_BODY = '{"half": '
/** What the edge looks up; everything else is looked up after the body was read. */
const AT_EDGE = new Set(['Pod', 'Inbox'])
const EVERYTHING: Question = { credential: 'organization', permitted: true }

describe('the running system answers as the route table says', () => {
  const system = useSystem()
  let shared: Readonly<Record<'tenant' | AgentCredential, Estate>>
  let otherInbox: string
  beforeAll(async () => {
    const [tenant, unverified, provisional] = await Promise.all([
      buildEstate(system),
      buildAgentEstate(system, 'unverified organization'),
      buildAgentEstate(system, 'provisional key'),
    ])
    shared = { tenant, 'unverified organization': unverified, 'provisional key': provisional }
    otherInbox = (await system.tenant.client.inboxes.create({})).inboxId
  }, 60_000)

  it.each(routes)('$name', async ({ operation, prefix }) => {
    const rows = await Promise.all(
      questions.map(async (question) => {
        const { credential, permitted } = question
        const expected = accessOf(operation, prefix, credential, permitted)
        const estate = await estateFor(operation, question, expected)
        const named = await namesFor(estate, operation, expected)
        // What is refused at the edge is refused before anything of the body is read (identity 1.11).
        const broken = refusedAtEdge(expected) ? BROKEN_BODY : undefined
        const observed = await ask(estate, operation, prefix, question, named, broken)
        return { asked: { credential, permitted }, expected, observed }
      }),
    )
    expect(rows.map(({ asked, observed }) => ({ ...asked, ...observed }))).toEqual(
      rows.map(({ asked, expected }) => ({ ...asked, ...expected, wrong: [] })),
    )
  })

  const below = routes.filter(({ operation, prefix }) => accessBelowWrongParent(operation, prefix) !== undefined)
  it.each(below)('$name below another parent', async ({ operation, prefix }) => {
    const { named } = shared.tenant
    const parent = prefix === 'pod' ? { pod_id: system.tenant.id } : { inbox_id: otherInbox }
    const observed = await ask(shared.tenant, operation, prefix, EVERYTHING, { ...named, ...parent })
    expect(observed).toEqual({ ...accessBelowWrongParent(operation, prefix), wrong: [] })
  })

  it('the refused requests have changed nothing', async () => {
    const { tenant } = shared
    for (const { operation, prefix } of routes.filter(({ operation }) => operation.method === 'GET')) {
      if (!operation.path.includes('{') || operation.authentication === 'none') continue
      expect(await ask(tenant, operation, prefix, EVERYTHING, tenant.named)).toEqual({
        status: operation.status,
        wrong: [],
      })
    }
  })

  /** What a request may use up is made for it; all others ask for the same things. */
  async function estateFor(
    operation: OperationDefinition,
    { credential }: Question,
    { code }: Access,
  ): Promise<Estate> {
    const agent = agentOf(credential)
    const { endsEstate, fresh } = rightCall(operation)
    if (agent === undefined) return endsEstate && code === undefined ? buildEstate(system) : shared.tenant
    return (endsEstate || fresh) && code === undefined ? buildAgentEstate(system, agent) : shared[agent]
  }

  async function namesFor(estate: Estate, operation: OperationDefinition, { code }: Access): Promise<Names> {
    const { fresh } = rightCall(operation)
    return fresh === undefined || code !== undefined ? estate.named : { ...estate.named, ...(await fresh(estate)) }
  }

  async function ask(
    estate: Estate,
    operation: OperationDefinition,
    prefix: Tier,
    { credential, permitted }: Question,
    named: Names,
    broken?: string,
  ): Promise<Observed> {
    const asking = await asker(estate, credential, grantFor(operation, credential, permitted))
    if (operation.response === UPGRADE) return { status: await handshake(await asking.handshake()), wrong: [] }
    const { body, query = '' } = rightCall(operation)
    const path = `${pathTo(operation, prefix, named)}${query}`
    const answer = await asking.request(operation.method, path, body && (broken ?? (await body(estate))))
    const { code, message } = answer.body
    return {
      status: answer.status,
      ...(typeof code === 'string' && { code }),
      ...(code === 'not_found' && { missing: String(message).replace(/ not found$/, '') }),
      wrong: [...leaks(answer, credential, named), ...withoutAdvice(answer, operation, credential)],
    }
  }

  /** Requests of a credential, and the headers with which it asks for a stream. */
  async function asker(estate: Estate, credential: Credential, grant: PermissionGrant | undefined) {
    if (credential === 'public key') {
      const { request, headers } = await estate.signerOf(grant)
      return { request, handshake: () => headers('GET', new URL(system.place.streamUrl).pathname) }
    }
    const key = await estate.keyOf(credential, grant)
    const api = new Api(system.place.gatewayUrl, key)
    return {
      request: (method: string, path: string, body?: unknown) => api.request(method, path, { body }),
      handshake: async (): Promise<Readonly<Record<string, string>>> => (key ? { authorization: `Bearer ${key}` } : {}),
    }
  }

  /** The status of a request for a stream. */
  async function handshake(headers: Readonly<Record<string, string>>): Promise<number> {
    try {
      const stream = await StreamClient.open(system.place.streamUrl, { headers })
      await stream.close()
      return 101
    } catch (error) {
      if (error instanceof HandshakeRefusedError) return error.status
      throw error
    }
  }
})

function refusedAtEdge({ code, missing }: Access): boolean {
  return code !== undefined && code !== 'limit_exceeded' && (missing === undefined || AT_EDGE.has(missing))
}

function isCredential(name: string): name is Credential {
  return Object.hasOwn(CREDENTIALS, name)
}

/** Kinds of credential that only an organization of an agent has. */
function agentOf(credential: Credential): AgentCredential | undefined {
  return credential === 'unverified organization' || credential === 'provisional key' ? credential : undefined
}

/** With the permission means with no other, without it means with all others. */
function grantFor(
  operation: OperationDefinition,
  credential: Credential,
  permitted: boolean,
): PermissionGrant | undefined {
  const permission = demandedPermission(operation, credential)
  if (!isPermission(permission)) return permitted ? undefined : {}
  const grantable = PERMISSIONS.filter((name) => credential !== 'public key' || name !== BEARER_ONLY)
  return Object.fromEntries(grantable.map((name) => [name, (name === permission) === permitted]))
}

/** Names of the estate in an answer to somebody whom they do not concern; a pod is no secret from its inboxes. */
function leaks({ body }: Answer, credential: Credential, named: Names): string[] {
  if (!credential.startsWith('foreign')) return []
  const text = JSON.stringify(body)
  return Object.entries(named).flatMap(([name, value]) => (name !== 'pod_id' && text.includes(value) ? [value] : []))
}

/** A refusal for lack of a right says which one; to a key that has to be verified first, how. */
function withoutAdvice({ body }: Answer, operation: OperationDefinition, credential: Credential): string[] {
  if (body['code'] !== 'missing_permission') return []
  const demanded = demandedPermission(operation, credential)
  const expected = [demanded, ...(credential === 'provisional key' ? ['/v0/agent/verify'] : [])]
  return expected.every((part) => String(body['fix']).includes(part)) ? [] : [`fix: ${body['fix']}`]
}
