import { type OperationDefinition, operations, type Tier, UPGRADE } from '@restante/contracts'
import type { Api } from './support/api.ts'
import { buildEstate, type Estate, pathTo } from './support/estate.ts'
import { useSystem } from './support/suite.ts'
import { requiredMembers, wrongMembers, wrongParameters } from './support/wrong-input.ts'

/** Every operation that answers a request; the stream has tests of its own. */
const all = Object.values<OperationDefinition>(operations).filter(({ response }) => response !== UPGRADE)
const routes = all.flatMap((operation) =>
  operation.prefixes.map((prefix) => ({ operation, prefix, id: operation.id, method: operation.method })),
)
const withKey = routes.filter(({ operation }) => operation.authentication === 'key')

const TIERS: readonly Tier[] = ['organization', 'pod', 'inbox']

describe('every operation', () => {
  const system = useSystem()
  let estate: Estate
  beforeAll(async () => {
    estate = await buildEstate(system)
  }, 60_000)

  /** A body that is right, for operations that look at it before they look for what it is about. */
  const right: Readonly<Record<string, unknown>> = {
    'apiKeys.update': { name: 'renamed' },
    'inboxes.update': { display_name: 'renamed' },
    'messages.update': { add_labels: ['seen'] },
  }

  describe('refuses a key without its permission with 403', () => {
    const guarded = withKey.filter(({ operation }) => operation.permission !== 'any')
    it.each(guarded)('$id ($method at $prefix)', async ({ operation, prefix, method }) => {
      const lacking = await keyWithout(operation)
      const answer = await lacking.request(method, pathTo(operation, prefix, estate.named), {
        body: bodyFor(operation),
      })
      expect(answer).toMatchObject({
        status: 403,
        body: { name: 'ForbiddenError', code: 'missing_permission', message: 'Forbidden' },
      })
      expect(answer.body['fix']).toContain(operation.permission)
    })
  })

  describe('refuses a key of a tier that cannot have it with 403', () => {
    const cases = withKey.flatMap(({ operation, prefix, id, method }) =>
      (['pod', 'inbox'] as const)
        .filter((tier) => !operation.tiers.includes(tier) || (tier === 'inbox' && prefix === 'pod'))
        .map((tier) => ({ operation, prefix, id, method, tier })),
    )
    it.each(cases)('$id ($method at $prefix, key of tier $tier)', async ({ operation, prefix, method, tier }) => {
      const answer = await estate.bound[tier].request(method, pathTo(operation, prefix, estate.named), {
        body: bodyFor(operation),
      })
      const podRoute = tier === 'inbox' && (prefix === 'pod' || operation.path.startsWith('/pods'))
      expect(answer).toMatchObject({ status: 403, body: { code: podRoute ? 'forbidden' : 'missing_permission' } })
    })
  })

  describe('hides what it names from keys of a sibling scope with 404', () => {
    const cases = withKey.flatMap(({ operation, prefix, id, method }) =>
      TIERS.filter((tier) => operation.tiers.includes(tier))
        .filter((tier) => !(tier === 'inbox' && prefix === 'pod'))
        .filter(() => prefix !== 'organization' || operation.path.includes('{'))
        .map((tier) => ({ operation, prefix, id, method, tier })),
    )
    it.each(cases)('$id ($method at $prefix, key of another $tier)', async ({ operation, prefix, method, tier }) => {
      const answer = await estate.siblings[tier].request(method, pathTo(operation, prefix, estate.named), {
        body: bodyFor(operation),
      })
      expect(answer).toMatchObject({ status: 404, body: { name: 'NotFoundError', code: 'not_found' } })
      expect(JSON.stringify(answer.body)).not.toContain(estate.named['inbox_id'])
    })
  })

  describe('refuses bad input with 400 and names the place', () => {
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
      expectRefusedAt(await ask(operation, { query: `?${member}=${value}` }), member)
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
      expect(await estate.owner.get('/v0/threads/7')).toMatchObject({
        status: 400,
        body: { message: 'Invalid UUID', errors: [{ path: ['thread_id'] }] },
      })
    })
  })

  it('has left everything as it was', async () => {
    for (const operation of all.filter(({ method, path }) => method === 'GET' && path.includes('{'))) {
      if (operation.authentication === 'none' || operation.id === 'messages.getAttachment') continue
      const [prefix] = operation.prefixes
      if (prefix === undefined) continue
      expect(await estate.owner.get(pathTo(operation, prefix, estate.named))).toMatchObject({ status: 200 })
    }
  })

  /** Rights that cannot be granted follow from what a key is bound to (identity 4.1). */
  function keyWithout({ permission }: OperationDefinition): Promise<Api> | Api {
    if (permission === 'organization_read') return estate.bound.pod
    if (permission === 'agent_verify') return estate.owner
    return estate.without(permission)
  }

  function bodyFor(operation: OperationDefinition): unknown {
    return operation.body === undefined ? undefined : (right[operation.id] ?? {})
  }

  /** Right values for the required members, so that only what a test makes wrong is wrong. */
  function required({ id }: OperationDefinition): object {
    return id === 'agent.signUp' ? { username: 'agent' } : {}
  }

  function ask(
    operation: OperationDefinition,
    given: { body?: unknown; query?: string; headers?: Record<string, string> },
  ) {
    const [prefix = 'organization'] = operation.prefixes
    const caller = operation.permission === 'agent_verify' ? estate.agent : estate.owner
    const path = `${pathTo(operation, prefix, estate.named)}${given.query ?? ''}`
    return caller.request(operation.method, path, given)
  }

  function expectRefusedAt(answer: { status: number; body: Readonly<Record<string, unknown>> }, member: string): void {
    expect(answer).toMatchObject({ status: 400, body: { name: 'ValidationError', code: 'validation_error' } })
    const errors = Array.isArray(answer.body['errors']) ? answer.body['errors'] : []
    expect(errors.map(({ path }) => path[0])).toContain(member)
  }
})
