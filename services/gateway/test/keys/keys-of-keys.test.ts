import { PERMISSIONS, type Permission } from '@restante/contracts/access'
import fc from 'fast-check'
import type { Credential } from '../../src/generated/prisma/client.ts'
import { holds, type Rights, rightsFromRow } from '../../src/identity/rights.ts'
import { type Answer, apiOf, startGateway, type TestGateway } from '../gateway.ts'
import { newKey, send, signedHeaders, type TestKey } from '../signatures/signing.ts'
import { atMost, gained, mayGive } from './rights.ts'

/** How the holder of a key authenticates: with its secret, or with a signature. */
type Ask = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
) => Promise<Pick<Answer, 'status' | 'body'>>

/** A key of the history, as PostgreSQL stored it after its last change. */
interface Held {
  readonly ask: Ask
  readonly row: Credential
}

/** Few names, so that histories meet; those without which a key makes no history, more often than not. */
const NAMES = [
  'inbox_read',
  'webhook_read',
  'api_key_read',
  'message_reply',
  'app_connect',
  'account_update',
] as const satisfies readonly Permission[]
const often = fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.boolean() })
const permissions = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant(null) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        fc.record({ api_key_create: often, api_key_update: often }),
        fc.dictionary(fc.constantFrom(...NAMES), fc.boolean()),
      )
      .map(([usual, more]) => ({ ...usual, ...more })),
  },
)
const step = fc.record({
  actor: fc.nat(),
  target: fc.nat(),
  deed: fc.constantFrom('bearer', 'bearer', 'public key', 'update', 'update', 'delete'),
  path: fc.nat(),
  permissions,
  hours: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** What shows whether a right is there: the operation that needs it, and nothing else. */
const PROBES: readonly [Permission, string][] = [
  ['inbox_read', '/v0/inboxes'],
  ['webhook_read', '/v0/webhooks'],
  ['api_key_read', '/v0/api-keys'],
]

describe('keys that make and change keys', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ RATE_LIMIT_EXEMPT_LOOPBACK: 'true' })
  })
  afterAll(() => gateway.stop())

  function withSignature({ privateKey }: TestKey, keyId: string): Ask {
    return (method, path, body) => {
      const request = { keyId, privateKey, method, path, ...(body && { body: JSON.stringify(body) }) }
      return send(gateway.url, request, signedHeaders(request))
    }
  }

  function withSecret(secret: string): Ask {
    const api = apiOf(gateway.url, secret)
    return (method, path, body) => {
      switch (method) {
        case 'GET':
          return api.get(path)
        case 'POST':
          return api.post(path, body)
        case 'PATCH':
          return api.patch(path, body)
        case 'DELETE':
          return api.delete(path)
      }
    }
  }

  function rowOf(id: string): Promise<Credential> {
    return gateway.db.orm.credential.findUniqueOrThrow({ where: { id } })
  }

  /** One history in an organization of its own: two pods with an inbox each. */
  class History {
    readonly keys = new Map<string, Held>()
    readonly #paths: readonly string[]

    private constructor(first: Held, paths: readonly string[]) {
      this.keys.set(first.row.id, first)
      this.#paths = paths
    }

    static async begin(): Promise<History> {
      const { id, key, api } = await gateway.organization()
      const { body: pod } = await api.post('/v0/pods', { name: 'other' })
      const inboxes = await Promise.all([id, pod['pod_id']].map((each) => api.post(`/v0/pods/${each}/inboxes`)))
      const { body: me } = await api.get('/v0/auth/me')
      const row = await rowOf(String(me['api_key_id']))
      const scopes = [
        '',
        `/pods/${id}`,
        `/pods/${pod['pod_id']}`,
        ...inboxes.map(({ body }) => `/inboxes/${body['inbox_id']}`),
      ]
      return new History(
        { ask: withSecret(key), row },
        scopes.map((scope) => `/v0${scope}/api-keys`),
      )
    }

    async take(given: Step): Promise<void> {
      const actor = this.#pick(given.actor)
      const path = this.#paths[given.path % this.#paths.length] ?? ''
      if (given.deed === 'update') await this.#update(actor, this.#pick(given.target), path, given)
      else if (given.deed === 'delete') await this.#delete(actor, this.#pick(given.target), path)
      else await this.#create(actor, path, given)
    }

    /** No refused request has created, changed or ended anything, and each key can do exactly what its rights allow. */
    async agreesWithTheRows(): Promise<void> {
      const [first] = this.keys.values()
      const rows = await gateway.db.orm.credential.findMany({
        where: { organizationId: first?.row.organizationId ?? '' },
      })
      expect(rows.map(essence).sort()).toEqual([...this.keys.values()].map(({ row }) => essence(row)).sort())
      for (const { ask, row } of this.keys.values()) {
        for (const [permission, path] of PROBES) {
          const { status } = await ask('GET', path)
          expect([permission, status]).toEqual([permission, holds(rightsFromRow(row), permission) ? 200 : 403])
        }
      }
    }

    #pick(index: number): Held {
      const all = [...this.keys.values()]
      const held = all[index % all.length]
      if (held === undefined) throw new Error('a history has a key')
      return held
    }

    async #create(actor: Held, path: string, { deed, permissions: wanted, hours }: Step): Promise<void> {
      const key = deed === 'public key' ? newKey() : undefined
      const expires_at = hours && new Date(Date.now() + hours * 3_600_000).toISOString()
      const { status, body } = await actor.ask('POST', path, {
        ...(wanted === undefined ? {} : { permissions: wanted }),
        ...(expires_at === undefined ? {} : { expires_at }),
        ...(key && { public_key: key.jwk }),
      })
      if (status !== 200) return
      const id = String(body['api_key_id'])
      const row = await rowOf(id)
      expect(atMost(rightsFromRow(row), rightsFromRow(actor.row))).toBe(true)
      expect(isInside(row, actor.row)).toBe(true)
      expect(endOf(row)).toBeLessThanOrEqual(endOf(actor.row))
      if (key !== undefined)
        expect([row.permissions === null, holds(rightsFromRow(row), 'account_update')]).toEqual([false, false])
      this.keys.set(id, { ask: key ? withSignature(key, id) : withSecret(String(body['api_key'])), row })
    }

    async #update(actor: Held, target: Held, path: string, { permissions: wanted }: Step): Promise<void> {
      const { status } = await actor.ask('PATCH', `${path}/${target.row.id}`, { name: 'changed', permissions: wanted })
      if (status !== 200) return
      const row = await rowOf(target.row.id)
      expect(isInside(row, actor.row)).toBe(true)
      expect(mayGive(rightsFromRow(actor.row), gained(rightsFromRow(row), rightsFromRow(target.row)))).toBe(true)
      expect(bindingOf(row)).toEqual(bindingOf(target.row))
      this.keys.set(row.id, { ...target, row })
    }

    async #delete(actor: Held, target: Held, path: string): Promise<void> {
      if (this.keys.size < 3) return
      const { status } = await actor.ask('DELETE', `${path}/${target.row.id}`)
      if (status !== 204) return
      expect(isInside(target.row, actor.row)).toBe(true)
      this.keys.delete(target.row.id)
    }
  }

  it('never create a key with more rights, a wider scope or a longer life, whatever the requests and their order', async () => {
    let made = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 30, size: 'max' }), async (steps) => {
        const history = await History.begin()
        for (const one of steps) await history.take(one)
        await history.agreesWithTheRows()
        made += history.keys.size
      }),
      { numRuns: 12, endOnFailure: true },
    )
    // Guards against vacuous runs.
    expect(made).toBeGreaterThan(40)
  }, 240_000)
})

function isInside(inner: Credential, outer: Credential): boolean {
  if (inner.organizationId !== outer.organizationId) return false
  if (outer.inboxUid !== null) return inner.inboxUid === outer.inboxUid
  return outer.podId === null || inner.podId === outer.podId
}

function endOf({ expiresAt }: Credential): number {
  return expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
}

/** Fields that no update may change. */
function bindingOf(row: Credential) {
  const { id, organizationId, type, tier, podId, inboxUid, expiresAt, publicKey, fingerprint, createdBy } = row
  return { id, organizationId, type, tier, podId, inboxUid, expiresAt, publicKey, fingerprint, createdBy }
}

function essence(row: Credential): string {
  const rights: Rights = rightsFromRow(row)
  return JSON.stringify([
    bindingOf(row),
    row.name,
    PERMISSIONS.filter((name) => holds(rights, name)),
    row.permissions === null,
  ])
}
