import { type OperationDefinition, operations, UPGRADE } from '@restante/contracts/operations'
import { rightCall } from '../support/calls/right-calls.ts'
import { optionalMembers, requiredMembers, wrongMembers, wrongParameters } from '../support/calls/wrong-input.ts'
import {
  createAgentOrganization,
  createOrganization,
  type Names,
  pathTo,
  type TestOrganization,
} from '../support/organizations.ts'
import { useSystem } from '../support/suite.ts'

/** Every operation that answers a request; the stream has tests of its own. */
const all = Object.values<OperationDefinition>(operations).filter(({ response }) => response !== UPGRADE)

describe('the input validation of every operation', () => {
  const system = useSystem()
  let organization: TestOrganization
  let agent: TestOrganization
  beforeAll(async () => {
    const made = [createOrganization(system), createAgentOrganization(system, 'unverified organization')] as const
    ;[organization, agent] = await Promise.all(made)
  })

  describe('rejects invalid input with 400 and names the member', () => {
    const members = all.flatMap((operation) =>
      wrongMembers(operation).map((wrong) => ({ operation, id: operation.id, ...wrong })),
    )
    it.each(members)('$id: member $member of the wrong kind', async ({ operation, member, value }) => {
      expectRefusedAt(await ask(operation, { body: { ...required(operation), [member]: value } }), member)
    })

    const missing = all.flatMap((operation) =>
      requiredMembers(operation).map((member) => ({ operation, id: operation.id, member })),
    )
    it.each(missing)('$id: without its member $member', async ({ operation, member }) => {
      expectRefusedAt(await ask(operation, { body: {} }), member)
    })

    const parameters = all.flatMap((operation) =>
      wrongParameters(operation).map((wrong) => ({ operation, id: operation.id, ...wrong })),
    )
    it.each(parameters)('$id: query $member', async ({ operation, member, value }) => {
      const query = new URLSearchParams(rightCall(operation).query)
      query.set(member, String(value))
      expectRefusedAt(await ask(operation, { query: `?${query}` }), member)
    })

    const takingBody = all.filter(({ body }) => body !== undefined)
    it.each(takingBody)('$id: a body that is no JSON object', async (operation) => {
      for (const body of ['{"half": ', '[]']) {
        expect(await ask(operation, { body })).toMatchObject({
          status: 400,
          body: { name: 'SyntaxError', code: 'validation_error', errors: [{ path: [] }] },
        })
      }
    })

    const takingKey = all.filter(({ idempotencyKey }) => idempotencyKey)
    it.each(takingKey)('$id: an Idempotency-Key with a space', async (operation) => {
      const answer = await ask(operation, { body: {}, headers: { 'idempotency-key': 'a b' } })
      expect(answer).toMatchObject({
        status: 400,
        body: { errors: expect.arrayContaining([expect.objectContaining({ path: ['headers', 'idempotency-key'] })]) },
      })
    })

    it('threads.get: an id that is no UUID', async () => {
      expect(await organization.owner.get('/v0/threads/7')).toMatchObject({
        status: 400,
        body: { message: 'Invalid UUID', errors: [{ path: ['thread_id'] }] },
      })
    })
  })

  describe('accepts null for each optional member', () => {
    const leavable = all.flatMap((operation) => {
      const members = optionalMembers(operation)
      return members.length === 0 ? [] : [{ operation, id: operation.id, members }]
    })
    it.each(leavable)('$id: $members', async ({ operation, members }) => {
      const { body: valid, fresh } = rightCall(operation)
      const [right, names] = await Promise.all([valid?.(organization), fresh?.(organization)])
      const nulls = Object.fromEntries(members.map((member) => [member, null]))
      const body = { ...nulls, ...(typeof right === 'object' ? right : {}) }
      expect(await ask(operation, { body, names })).toMatchObject({ status: operation.status })
    })
  })

  it('rejected requests have changed nothing', async () => {
    for (const operation of all.filter(({ method, path }) => method === 'GET' && path.includes('{'))) {
      const [prefix] = operation.prefixes
      if (prefix === undefined || operation.authentication === 'none') continue
      expect(await organization.owner.get(pathTo(operation, prefix, organization.named))).toMatchObject({ status: 200 })
    }
  })

  /** Valid values of the required members, so that only the tested member is wrong. */
  function required({ id }: OperationDefinition): object {
    return id === 'agent.signUp' ? { username: 'agent' } : {}
  }

  function ask(
    operation: OperationDefinition,
    given: { body?: unknown; query?: string; headers?: Record<string, string>; names?: Names | undefined },
  ) {
    const [prefix = 'organization'] = operation.prefixes
    const { owner } = operation.permission === 'agent_verify' ? agent : organization
    const path = `${pathTo(operation, prefix, { ...organization.named, ...given.names })}${given.query ?? ''}`
    return owner.request(operation.method, path, given)
  }

  function expectRefusedAt(answer: { status: number; body: Readonly<Record<string, unknown>> }, member: string): void {
    expect(answer).toMatchObject({ status: 400, body: { name: 'ValidationError', code: 'validation_error' } })
    const errors = Array.isArray(answer.body['errors']) ? answer.body['errors'] : []
    expect(errors.map(({ path }) => path[0])).toContain(member)
  }
})
