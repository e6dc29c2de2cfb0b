import { isPermission, PERMISSIONS, type Permission, type PermissionGrant } from '@restante/contracts/access'
import { type OperationDefinition, operations, pathsOf, UPGRADE } from '@restante/contracts/operations'
import {
  type Access,
  accessBelowWrongParent,
  accessOf,
  CREDENTIALS,
  type Credential,
  demandedPermission,
  WORD_PARAMETERS,
} from '@restante/contracts/testing'
import type { Tier } from '@restante/contracts/vocabulary'
import { HandshakeRefusedError, StreamClient } from '@restante/testkit'
import { type Answer, Api } from '../support/api.ts'
import { type Question, questionsAbout } from '../support/calls/questions.ts'
import { rightCall } from '../support/calls/right-calls.ts'
import {
  type AgentCredential,
  createAgentOrganization,
  createEmptyOrganization,
  createOrganization,
  type Names,
  pathTo,
  type TestOrganization,
} from '../support/organizations.ts'
import { useSystem } from '../support/suite.ts'

/** Every operation under each of its prefixes. */
const routes = Object.values<OperationDefinition>(operations).flatMap((operation) =>
  pathsOf(operation).map(({ tier, path }) => ({ name: `${operation.method} ${path}`, operation, prefix: tier })),
)
const credentials = Object.keys(CREDENTIALS).filter(isCredential)

/** The response in the terms of the table. `wrong` is anything that no response may contain or lack. */
interface Observed {
  readonly status: number
  readonly code?: string
  readonly missing?: string
  readonly wrong: readonly string[]
}

/** Permissions that no public key can have (identity 3.3). */
const BEARER_ONLY: Permission = 'account_update'
/** Not JSON: a service that reads it answers 400. */
const BROKEN_BODY = '{"half": '
/** What the edge looks up; services look up everything else after they have read the body. */
const AT_EDGE = new Set(['Pod', 'Inbox'])
const EVERYTHING: Question = { credential: 'organization', permitted: true, unrestricted: true }

describe('the running system answers as the route table says', () => {
  const system = useSystem()
  let shared: Readonly<Record<'tenant' | AgentCredential, TestOrganization>>
  let otherInbox: string
  beforeAll(async () => {
    const [tenant, unverified, provisional] = await Promise.all([
      createOrganization(system),
      createAgentOrganization(system, 'unverified organization'),
      createAgentOrganization(system, 'provisional key'),
    ])
    shared = { tenant, 'unverified organization': unverified, 'provisional key': provisional }
    otherInbox = (await system.tenant.client.inboxes.create({})).inboxId
  })

  it.each(routes.map((route, turn) => ({ ...route, turn })))('$name', async ({ operation, prefix, turn }) => {
    const rows = await Promise.all(
      questionsAbout(operation, turn, credentials, pathsOf(operation).length).map(async (question) => {
        const { credential, permitted } = question
        const expected = accessOf(operation, prefix, credential, permitted)
        const organization = await organizationFor(operation, question, expected)
        const named = await namesFor(organization, operation, expected)
        // The edge rejects a request before it reads the body (identity 1.11).
        const broken = refusedAtEdge(operation, question, expected) ? BROKEN_BODY : undefined
        const observed = await ask(organization, operation, prefix, question, named, broken)
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

  const alsoNeeding = routes.filter(({ operation }) => rightCall(operation).also !== undefined)
  it.each(alsoNeeding)(
    '$name with its permission alone is refused for the other that the request needs',
    async (route) => {
      const { operation, prefix } = route
      const grant = Object.fromEntries(PERMISSIONS.map((name) => [name, name === operation.permission]))
      const { request } = await asker(shared.tenant, 'organization', grant)
      const { body } = rightCall(operation)
      const path = pathTo(operation, prefix, shared.tenant.named)
      const answer = await request(operation.method, path, await body?.(shared.tenant))
      expect(answer).toMatchObject({ status: 403, body: { code: 'missing_permission' } })
      for (const name of rightCall(operation).also ?? []) expect(answer.body['fix']).toContain(name)
    },
  )

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

  /** A request that uses something up gets an organization of its own; all others share one. */
  async function organizationFor(
    operation: OperationDefinition,
    { credential }: Question,
    { code }: Access,
  ): Promise<TestOrganization> {
    const agent = agentOf(credential)
    const { endsOrganization, endsAgent } = rightCall(operation)
    if (agent === undefined)
      return endsOrganization && code === undefined ? createEmptyOrganization(system) : shared.tenant
    return (endsOrganization || endsAgent) && code === undefined
      ? createAgentOrganization(system, agent)
      : shared[agent]
  }

  async function namesFor(
    organization: TestOrganization,
    operation: OperationDefinition,
    { code }: Access,
  ): Promise<Names> {
    const { fresh } = rightCall(operation)
    return fresh === undefined || code !== undefined
      ? organization.named
      : { ...organization.named, ...(await fresh(organization)) }
  }

  async function ask(
    organization: TestOrganization,
    operation: OperationDefinition,
    prefix: Tier,
    question: Question,
    named: Names,
    broken?: string,
  ): Promise<Observed> {
    const { credential } = question
    const asking = await asker(organization, credential, grantFor(operation, question))
    if (operation.response === UPGRADE) return { status: await handshake(await asking.handshake()), wrong: [] }
    const { body, query = '' } = rightCall(operation)
    const path = `${pathTo(operation, prefix, named)}${query}`
    const answer = await asking.request(operation.method, path, body && (broken ?? (await body(organization))))
    const { code, message } = answer.body
    return {
      status: answer.status,
      ...(typeof code === 'string' && { code }),
      ...(code === 'not_found' && { missing: String(message).replace(/ not found$/, '') }),
      wrong: [...leaks(answer, credential, named), ...withoutAdvice(answer, operation, credential)],
    }
  }

  /** Requests of a credential, and the headers of its stream handshake. */
  async function asker(organization: TestOrganization, credential: Credential, grant: PermissionGrant | undefined) {
    if (credential === 'public key') {
      const { request, headers } = await organization.signerOf(grant)
      return { request, handshake: () => headers('GET', new URL(system.endpoints.streamUrl).pathname) }
    }
    const key = await organization.keyOf(credential, grant)
    const api = new Api(system.endpoints.gatewayUrl, key)
    return {
      request: (method: string, path: string, body?: unknown) => api.request(method, path, { body }),
      handshake: async (): Promise<Readonly<Record<string, string>>> => (key ? { authorization: `Bearer ${key}` } : {}),
    }
  }

  /** The status of a stream handshake. */
  async function handshake(headers: Readonly<Record<string, string>>): Promise<number> {
    try {
      const stream = await StreamClient.open(system.endpoints.streamUrl, { headers })
      await stream.close()
      return 101
    } catch (error) {
      if (error instanceof HandshakeRefusedError) return error.status
      throw error
    }
  }
})

function refusedAtEdge({ id, permission }: OperationDefinition, { permitted }: Question, access: Access): boolean {
  // The owner of apps refuses public keys that hold the permission; services refuse inboxes that only the body names.
  if (permitted && (permission === 'app_connect' || id === 'calendars.compareFreeBusy')) return false
  const { code, missing } = access
  return code !== undefined && code !== 'limit_exceeded' && (missing === undefined || AT_EDGE.has(missing))
}

function isCredential(name: string): name is Credential {
  return Object.hasOwn(CREDENTIALS, name)
}

/** Kinds of credential that only an organization of an agent has. */
function agentOf(credential: Credential): AgentCredential | undefined {
  return credential === 'unverified organization' || credential === 'provisional key' ? credential : undefined
}

/** "With the permission" means with no other, unless the request needs one or all are wanted; "without it", with all others. */
function grantFor(
  operation: OperationDefinition,
  { credential, permitted, unrestricted = false }: Question,
): PermissionGrant | undefined {
  if (unrestricted) return undefined
  const permission = demandedPermission(operation, credential)
  if (!isPermission(permission)) return permitted ? undefined : {}
  const grantable = PERMISSIONS.filter((name) => credential !== 'public key' || name !== BEARER_ONLY)
  const needed: readonly Permission[] = permitted ? [permission, ...(rightCall(operation).also ?? [])] : [permission]
  return Object.fromEntries(grantable.map((name) => [name, needed.includes(name) === permitted]))
}

/** Names of the organization in a response to a foreign credential. The pod is not secret to keys of its inboxes. */
function leaks({ body }: Answer, credential: Credential, named: Names): string[] {
  if (!credential.startsWith('foreign')) return []
  const text = JSON.stringify(body)
  const isSecret = (name: string) => name !== 'pod_id' && !WORD_PARAMETERS.has(name)
  return Object.entries(named).flatMap(([name, value]) => (isSecret(name) && text.includes(value) ? [value] : []))
}

/** An error for a missing permission names the permission, or says how the key is verified. */
function withoutAdvice({ body }: Answer, operation: OperationDefinition, credential: Credential): string[] {
  if (body['code'] !== 'missing_permission') return []
  const demanded = demandedPermission(operation, credential)
  const named = demanded === 'any' ? [] : [demanded]
  const expected = [...named, ...(credential === 'provisional key' ? ['/v0/agent/verify'] : [])]
  return expected.every((part) => String(body['fix']).includes(part)) ? [] : [`fix: ${body['fix']}`]
}
