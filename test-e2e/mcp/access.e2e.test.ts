import { isPermission, PERMISSIONS, type PermissionGrant } from '@restante/contracts/access'
import { type OperationDefinition, operations } from '@restante/contracts/operations'
import { accessOf, type Credential } from '@restante/contracts/testing'
import { z } from 'zod'
import { Api } from '../support/api.ts'
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
import { FURTHER_TOOLS, PUBLIC_TOOLS, TOOL_CALLS, type ToolCall } from './catalogue.ts'
import { sendMessage } from './client.ts'

const ALL = [...PUBLIC_TOOLS.map(([name]) => name), ...FURTHER_TOOLS]

/** Kinds of bearer key. */
const KINDS: readonly Credential[] = [
  ...(['organization', 'pod', 'inbox', 'foreign organization', 'foreign pod', 'foreign inbox'] as const),
  'unverified organization',
]

const listed = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) })
const called = z.object({
  result: z.object({ isError: z.boolean().default(false), structuredContent: z.record(z.string(), z.unknown()) }),
})

describe('tools answer each kind of key as the route table says', () => {
  const system = useSystem()
  let shared: Readonly<Record<'tenant' | AgentCredential, TestOrganization>>
  const lists = new Map<string, Promise<readonly string[]>>()
  beforeAll(async () => {
    const [tenant, unverified, provisional] = await Promise.all([
      createOrganization(system),
      createAgentOrganization(system, 'unverified organization'),
      createAgentOrganization(system, 'provisional key'),
    ])
    shared = { tenant, 'unverified organization': unverified, 'provisional key': provisional }
  })

  /** The tools that a key sees. */
  function seenBy(key: string): Promise<readonly string[]> {
    const known = lists.get(key)
    if (known !== undefined) return known
    const names = sendMessage(system.endpoints, key, 'tools/list').then(({ body }) =>
      listed.parse(body).result.tools.map(({ name }) => name),
    )
    lists.set(key, names)
    return names
  }

  async function callOf(key: string, name: string, args: object) {
    const { body } = await sendMessage(system.endpoints, key, 'tools/call', { name, arguments: args })
    const { isError, structuredContent } = called.parse(body).result
    return { isError, document: structuredContent }
  }

  it('and there is a right call of every tool', async () => {
    expect(Object.keys(TOOL_CALLS)).toEqual(ALL)
    const everything = await shared.tenant.keyOf('organization')
    expect(await seenBy(everything ?? '')).toEqual(ALL)
  })

  it.each(Object.entries(TOOL_CALLS))('%s', async (name, tool) => {
    const operation: OperationDefinition = operations[tool.operation]
    const turn = ALL.indexOf(name)
    const asking = questionsAbout(operation, turn, KINDS).map(async (question) => {
      const { credential, permitted } = question
      const needed = accessOf(operation, tool.prefix, credential, permitted)
      // What is asked first is refused first: a poll needs no permission but for the events that it names.
      const first = tool.asks && accessOf(operations[tool.asks[0]], tool.prefix, credential, permitted)
      const expected = first?.code === undefined ? needed : first
      const organization = await organizationFor(operation, credential, expected.code)
      const key = await organization.keyOf(credential, grantFor(operation, question))
      if (key === undefined) throw new Error(`there is no key of the kind ${credential}`)
      const isListed = (await seenBy(key)).includes(name)
      const names = await namesFor(organization, operation, expected.code)
      const { isError, document } = await callOf(key, name, tool.args(names, organization.human))
      const asked = { credential, permitted }
      expect({ ...asked, isListed, isError, code: document['code'] }).toEqual({
        ...asked,
        isListed: needed.code !== 'missing_permission',
        isError: expected.code !== undefined,
        code: expected.code,
      })
      if (isError) expect(document).toEqual(await answerOfApi(key, tool, organization, names))
    })
    await Promise.all(asking)
  })

  it('and a provisional key, which may do nothing but be verified, is refused at the endpoint', async () => {
    const key = await shared['provisional key'].keyOf('provisional key')
    for (const method of ['initialize', 'tools/list', 'tools/call']) {
      const { status, body } = await sendMessage(system.endpoints, key, method, { name: 'auth_me' })
      expect([status, body['code']]).toEqual([403, 'missing_permission'])
      expect(body['fix']).toContain('/v0/agent/verify')
    }
  })

  /** The answer of the operation itself to a request of the same key. */
  async function answerOfApi(
    key: string,
    { prefix, operation: id, asks }: ToolCall,
    organization: TestOrganization,
    names: Names,
  ) {
    const operation: OperationDefinition = operations[asks?.[0] ?? id]
    const { body, query = '' } = rightCall(operation)
    const path = `${pathTo(operation, prefix, names)}${asks?.[1] ?? query}`
    const answer = await new Api(system.endpoints.gatewayUrl, key).request(operation.method, path, {
      body: await body?.(organization),
    })
    return answer.body
  }

  async function organizationFor(operation: OperationDefinition, credential: Credential, code: string | undefined) {
    if (credential === 'unverified organization') {
      const usesUp = code === undefined && (rightCall(operation).endsOrganization || rightCall(operation).endsAgent)
      return usesUp ? createAgentOrganization(system, credential) : shared[credential]
    }
    return rightCall(operation).endsOrganization && code === undefined ? createEmptyOrganization(system) : shared.tenant
  }

  async function namesFor(organization: TestOrganization, operation: OperationDefinition, code: string | undefined) {
    const { fresh } = rightCall(operation)
    if (fresh === undefined || code !== undefined) return organization.named
    return { ...organization.named, ...(await fresh(organization)) }
  }
})

/** With the permission means with no other, unless all are wanted; without it, with all others. */
function grantFor(
  { permission }: OperationDefinition,
  { credential, permitted, unrestricted = false }: Question,
): PermissionGrant | undefined {
  if (unrestricted || credential === 'unverified organization') return undefined
  if (!isPermission(permission)) return permitted ? undefined : {}
  return Object.fromEntries(PERMISSIONS.map((name) => [name, (name === permission) === permitted]))
}
