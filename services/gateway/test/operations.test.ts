import { randomUUID } from 'node:crypto'
import {
  isPermission,
  OPERATION_IDS,
  type OperationDefinition,
  operations,
  PERMISSIONS,
  pathsOf,
  type Tier,
  UPGRADE,
} from '@restante/contracts'
import { request } from 'undici'
import { startGateway, type TestGateway } from './gateway.ts'

const TIERS: readonly Tier[] = ['organization', 'pod', 'inbox']

/** Every operation under each of its prefixes, as the contracts list them. */
const ROUTES = OPERATION_IDS.flatMap((id) => {
  const operation: OperationDefinition = operations[id]
  if (operation.response === UPGRADE) return []
  return pathsOf(operation).map(({ tier, path }) => ({ name: `${operation.method} ${path}`, operation, tier, path }))
})
const WITH_KEY = ROUTES.filter(({ operation }) => operation.authentication === 'key')

/** What of an organization a path can name. */
interface Tree {
  readonly pod: string
  readonly inbox: string
}

describe('every operation', () => {
  let gateway: TestGateway
  let organizationId: string
  const own: Tree = { pod: randomUUID(), inbox: 'own@restante.test' }
  const sibling: Tree = { pod: randomUUID(), inbox: 'sibling@restante.test' }
  const keys = new Map<Tier, string>()
  const powerless = new Map<Tier, string>()

  beforeAll(async () => {
    gateway = await startGateway()
    const { id, api } = await gateway.organization()
    organizationId = id
    for (const { pod, inbox } of [own, sibling]) {
      const now = new Date()
      const row = { id: pod, organizationId, name: 'Pod', createdAt: now, updatedAt: now }
      await gateway.db.orm.pod.create({ data: row })
      await api.post(`/v0/pods/${pod}/inboxes`, { username: inbox.slice(0, inbox.indexOf('@')) })
    }
    for (const tier of TIERS) {
      const bound = {
        organizationId,
        ...(tier === 'pod' ? { pod: own.pod } : tier === 'inbox' ? { inbox: own.inbox } : {}),
      }
      keys.set(tier, (await gateway.operator.createKey(bound)).secret)
      powerless.set(tier, (await gateway.operator.createKey({ ...bound, permissions: [] })).secret)
    }
    gateway.behind.record()
  })
  afterAll(() => gateway.stop())

  function pathIn(tree: Tree, template: string): string {
    return template
      .replace('{pod_id}', tree.pod)
      .replace('{inbox_id}', encodeURIComponent(tree.inbox))
      .replace(/\{[a-z_]+\}/g, () => randomUUID())
  }

  async function call({ method }: OperationDefinition, path: string, key: string | undefined) {
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
    const { statusCode, body } = await request(`${gateway.url}${path}`, { method, headers })
    const text = await body.text()
    return { status: statusCode, code: text === '' ? undefined : JSON.parse(text).code }
  }

  it.each(WITH_KEY)('$name asks for a key', async ({ operation, path }) => {
    expect(await call(operation, pathIn(own, path), undefined)).toEqual({ status: 401, code: 'missing_authorization' })
  })

  it.each(WITH_KEY.filter(({ operation }) => isPermission(operation.permission)))(
    '$name refuses a key without its permission, also for what does not exist',
    async ({ operation, path }) => {
      for (const tier of TIERS) {
        const { status, code } = await call(operation, pathIn(own, path), powerless.get(tier))
        expect([tier, status, ['missing_permission', 'forbidden'].includes(code)]).toEqual([tier, 403, true])
        const nowhere = await call(
          operation,
          pathIn({ pod: randomUUID(), inbox: 'none@restante.test' }, path),
          powerless.get(tier),
        )
        expect([tier, nowhere.status]).toEqual([tier, 403])
      }
    },
  )

  it.each(WITH_KEY)('$name refuses tiers that it is not for', async ({ operation, path, tier: prefix }) => {
    for (const tier of TIERS) {
      const onPods = tier === 'inbox' && path.startsWith('/v0/pods')
      if (operation.tiers.includes(tier) && !onPods) continue
      const { status, code } = await call(operation, pathIn(own, path), keys.get(tier))
      expect([prefix, tier, status, code]).toEqual([prefix, tier, 403, onPods ? 'forbidden' : 'missing_permission'])
    }
  })

  it.each(WITH_KEY.filter(({ path }) => /\{(pod|inbox)_id\}/.test(path)))(
    '$name answers the key of a sibling scope as if nothing were there',
    async ({ operation, path }) => {
      const reachable = TIERS.filter((tier) => operation.tiers.includes(tier) && tier !== 'organization')
      for (const tier of reachable.filter((each) => !(each === 'inbox' && path.startsWith('/v0/pods')))) {
        expect(await call(operation, pathIn(sibling, path), keys.get(tier))).toEqual({ status: 404, code: 'not_found' })
      }
    },
  )

  it.each(WITH_KEY.filter(({ operation, tier }) => operation.service !== 'gateway' && tier !== 'organization'))(
    '$name is carried to its service for a key of its own scope',
    async ({ operation, path, tier }) => {
      expect((await call(operation, pathIn(own, path), keys.get(tier === 'pod' ? 'pod' : 'inbox'))).status).toBe(200)
    },
  )

  it('has a permission that can be granted, or one that is known never to be', () => {
    const internal = new Set(['any', 'organization_read', 'agent_verify'])
    for (const { operation } of ROUTES) {
      expect(PERMISSIONS.some((name) => name === operation.permission) || internal.has(operation.permission)).toBe(true)
    }
  })
})
