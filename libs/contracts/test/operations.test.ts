import { INTERNAL_PERMISSIONS, isPermission, tiersOfPermission } from '../src/access/index.ts'
import { internalOperations } from '../src/internal/index.ts'
import {
  errorCodesOf,
  OPERATION_IDS,
  type OperationDefinition,
  operations,
  operationsOf,
  PROVISIONAL_OPERATIONS,
  pathParameters,
  pathsOf,
} from '../src/operations/index.ts'
import { LIMITS, SERVICES, TIERS } from '../src/vocabulary/index.ts'

const all = Object.entries<OperationDefinition>(operations)

/** Parameters that a prefix brings; the gateway resolves them, the operation never sees them. */
const PREFIX_PARAMETERS = { organization: [], pod: ['pod_id'], inbox: ['inbox_id'] }

describe.each(all)('%s', (key, operation) => {
  it('is keyed by its id', () => {
    expect(operation.id).toBe(key)
  })

  it('declares exactly the parameters of its path', () => {
    expect(Object.keys(operation.params.shape).sort()).toEqual(pathParameters(operation.path).sort())
  })

  it('never names a parameter twice in a full path', () => {
    for (const { tier, path } of pathsOf(operation)) {
      const names = pathParameters(path)
      expect(new Set(names).size).toBe(names.length)
      expect(names).toEqual([...PREFIX_PARAMETERS[tier], ...pathParameters(operation.path)])
    }
  })

  it('requires an existing permission, and is offered only to tiers that can have it', () => {
    const { permission, tiers } = operation
    if (permission === 'any') return
    expect(isPermission(permission) || INTERNAL_PERMISSIONS.some((name) => name === permission)).toBe(true)
    for (const tier of tiers) expect(tiersOfPermission(permission)).toContain(tier)
    const { signedPermission = permission } = operation
    for (const tier of tiers) expect(tiersOfPermission(signedPermission)).toContain(tier)
  })

  it('has tiers exactly when it needs a key', () => {
    expect(operation.tiers.length > 0).toBe(operation.authentication === 'key')
  })

  it('has a body exactly on POST and PATCH', () => {
    expect(operation.body !== undefined).toBe(operation.method === 'POST' || operation.method === 'PATCH')
  })

  it('answers 204 exactly when it has no response', () => {
    expect(operation.status === 204).toBe(operation.response === undefined)
  })

  it('can answer each of its error codes, and 400 wherever a caller can send something wrong', () => {
    const codes = errorCodesOf(operation)
    expect(new Set(codes).size).toBe(codes.length)
    for (const code of operation.errors ?? []) expect(codes).toContain(code)
    expect(codes.includes('validation_error')).toBe(
      operation.body !== undefined ||
        Object.keys(operation.query.shape).length > 0 ||
        ['thread_id', 'direction', 'type', 'app_id'].some((name) => Object.hasOwn(operation.params.shape, name)),
    )
  })
})

describe('the table of operations', () => {
  it('gives each method and path to one operation', () => {
    const routes = all.flatMap(([, operation]) =>
      pathsOf(operation).map(({ path }) => `${operation.method} ${path.replaceAll(/\{[a-z_]+\}/g, '{}')}`),
    )
    const twice = routes.filter((route, index) => routes.indexOf(route) !== index)
    expect(twice).toEqual([])
  })

  it('leaves no operation without its service', () => {
    expect(SERVICES.flatMap((service) => operationsOf(service))).toHaveLength(OPERATION_IDS.length)
  })

  it('offers operations below a pod only to credentials that reach a pod', () => {
    for (const [, { tiers, prefixes }] of all) {
      expect(TIERS.filter((tier) => prefixes.includes(tier)).length).toBe(prefixes.length)
      if (tiers.length > 0) expect(tiers).toContain('organization')
    }
  })

  it('accepts Idempotency-Key only where mail is sent, a sign-in begins and sign-in keys end, the large body for what sends and drafts', () => {
    const sending = ['messages.send', 'messages.reply', 'messages.replyAll', 'messages.forward']
    const drafting = ['create', 'update'].map((verb) => `drafts.${verb}`)
    const answering = ['draftReply', 'draftReplyAll', 'draftForward'].map((verb) => `messages.${verb}`)
    const keyed = (rule: string) => all.filter(([, { idempotencyKey }]) => idempotencyKey === rule).map(([id]) => id)
    expect(keyed('send')).toEqual([...sending, 'drafts.send'])
    const revoking = ['publicKeys.revokeSignIn', 'apiKeys.revokeSignIn']
    expect(keyed('connect')).toEqual([...revoking, 'apps.connect', 'providers.connect'])
    const large = all.filter(([, { bodyLimit }]) => bodyLimit.bytes > LIMITS.request.body)
    expect(large.map(([id]) => id)).toEqual([...sending, ...drafting, ...answering])
  })

  it('has another permission for signed requests only for replies', () => {
    const other = all.filter(([, { signedPermission }]) => signedPermission !== undefined)
    expect(other.map(([id, { signedPermission }]) => [id, signedPermission])).toEqual([
      ['messages.reply', 'message_reply'],
      ['messages.replyAll', 'message_reply'],
    ])
  })

  it('allows a provisional key only auth.me and verify', () => {
    expect(PROVISIONAL_OPERATIONS).toEqual(['auth.me', 'agent.verify'])
  })
})

describe.each(Object.entries(internalOperations))('%s', (key, operation) => {
  it('is keyed by its id, below /internal, and never called by its own service', () => {
    expect(operation.id).toBe(key)
    expect(operation.path).toMatch(/^\/internal\/[a-z-]+\/[a-z-]+$/)
    expect([...operation.callers].some((caller: string) => caller === operation.service)).toBe(false)
  })
})
