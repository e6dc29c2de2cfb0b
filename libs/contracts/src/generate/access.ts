import { DENIED_WHILE_UNVERIFIED } from '../access/permissions.ts'
import { type OperationDefinition, UPGRADE } from '../definition/operation.ts'
import { PROVISIONAL_OPERATIONS, pathParameters, pathsOf } from '../operations/table.ts'
import { ERRORS, type ErrorCode } from '../vocabulary/errors.ts'
import type { Tier } from '../vocabulary/tiers.ts'

/** The caller, in relation to the resource in the path of the request. */
interface Holder {
  readonly tier: Tier
  /** Whether the resource that the path names is in its scope. */
  readonly own: boolean
  /**
   * `unverified`: of an agent organization that is not verified. `provisional`: a sign-up key that waits for its code.
   */
  readonly state?: 'unverified' | 'provisional'
  /** A registered public key: its requests are signed. */
  readonly signs?: true
}

/** The kinds of credential that the route table distinguishes, including none. */
export const CREDENTIALS = {
  none: undefined,
  organization: { tier: 'organization', own: true },
  pod: { tier: 'pod', own: true },
  inbox: { tier: 'inbox', own: true },
  'foreign organization': { tier: 'organization', own: false },
  'foreign pod': { tier: 'pod', own: false },
  'foreign inbox': { tier: 'inbox', own: false },
  'unverified organization': { tier: 'organization', own: true, state: 'unverified' },
  'public key': { tier: 'organization', own: true, signs: true },
  'provisional key': { tier: 'organization', own: true, state: 'provisional' },
} as const satisfies Record<string, Holder | undefined>

export type Credential = keyof typeof CREDENTIALS

/** The response to a valid request: its success, or the error. */
export interface Access {
  readonly status: number
  /** Absent on success, and on a refused stream handshake, which has the infrastructure's form. */
  readonly code?: ErrorCode
  /**
   * On 404: the resource in the message, which is the first segment that the credential cannot reach (identity 1.6).
   */
  readonly missing?: string
}

/** The resource of a path parameter, in the words of a 404. */
const RESOURCES: Readonly<Record<string, string>> = {
  account_id: 'Account',
  api_key_id: 'API key',
  app_id: 'App',
  attachment_id: 'Attachment',
  delivery_id: 'Delivery',
  draft_id: 'Draft',
  entry: 'List entry',
  event_id: 'Event',
  inbox_id: 'Inbox',
  message_id: 'Message',
  pod_id: 'Pod',
  thread_id: 'Thread',
  webhook_id: 'Webhook',
  domain_id: 'Domain',
}

/** Parameters of paths that name nothing of an organization: one of a few words, or an app, which all may see. */
export const WORD_PARAMETERS: ReadonlySet<string> = new Set(['direction', 'type', 'app_id'])

/** Operations whose body names the inbox, so that the service finds out that it is not the caller's. */
const INBOX_IN_BODY: ReadonlySet<string> = new Set(['apps.connect', 'providers.connect', 'calendars.compareFreeBusy'])

/** Permissions that no public key can have (identity 3.3), or that mean nothing of one: keys make no keys (apps 2, 3). */
const BEARER_ONLY: ReadonlySet<string> = new Set(['account_update', 'app_connect'])

const provisional: ReadonlySet<string> = new Set(PROVISIONAL_OPERATIONS)
const denied: ReadonlySet<string> = new Set(DENIED_WHILE_UNVERIFIED)
/** An unverified organization has only the inbox that sign-up created, and no domain (identity 5.4, domains 2.1). */
const EXHAUSTED_WHILE_UNVERIFIED: ReadonlySet<string> = new Set(['inbox_create', 'domain_create'])
const NOTHING_WHILE_UNVERIFIED = 'Domain'
/** It can register no public key, and these find no other one. */
const FIND_PUBLIC_KEYS: ReadonlySet<string> = new Set(['publicKeys.update', 'publicKeys.delete'])

/**
 * The route table as a function (identity 4.2, 4.3, 5.4): the answer to a request with valid values under a prefix. It
 * states the promise, by the columns of the table of operations, and not how the gateway decides, so that the test
 * which tries every combination on a running system compares two independent answers.
 * @param permitted whether the credential has the operation's permission: see `demandedPermission`.
 */
export function accessOf(
  operation: OperationDefinition,
  prefix: Tier,
  credential: Credential,
  permitted: boolean,
): Access {
  const code = operation.authentication === 'none' ? undefined : refusalOf(operation, prefix, credential, permitted)
  if (code === undefined) return { status: operation.status }
  if (operation.response === UPGRADE) return { status: 403 }
  const { status } = ERRORS[code]
  return code === 'not_found' ? { status, code, missing: missingOf(operation, prefix, credential) } : { status, code }
}

/** The permission that an operation requires (identity 4.1), which may be another one for a public key. */
export function demandedPermission(
  operation: OperationDefinition,
  credential: Credential,
): OperationDefinition['permission'] {
  const holder: Holder | undefined = CREDENTIALS[credential]
  return (holder?.signs && operation.signedPermission) || operation.permission
}

/**
 * The response to a credential that reaches everything, below an existing parent that does not contain the resource in
 * the rest of the path (identity 4.2). `undefined`: the path names nothing below its prefix.
 */
export function accessBelowWrongParent(operation: OperationDefinition, prefix: Tier): Access | undefined {
  const [missing] = prefix === 'organization' ? [] : resourcesOf(operation, 'organization')
  if (missing === undefined) return undefined
  return { status: ERRORS.not_found.status, code: 'not_found', missing }
}

/** The first check that refuses (identity 1.11, steps 2 to 6); `undefined`: none does. */
function refusalOf(
  operation: OperationDefinition,
  prefix: Tier,
  credential: Credential,
  permitted: boolean,
): ErrorCode | undefined {
  const holder: Holder | undefined = CREDENTIALS[credential]
  if (holder === undefined) return 'missing_authorization'
  // A handshake is authenticated only by a bearer key.
  if (holder.signs && operation.response === UPGRADE) return 'missing_authorization'
  if (holder.state === 'provisional') return provisional.has(operation.id) ? undefined : 'missing_permission'
  if (holder.tier === 'inbox' && (prefix === 'pod' || operation.path.startsWith('/pods'))) return 'forbidden'
  if (!operation.tiers.includes(holder.tier) || !holds(operation, holder, permitted)) return 'missing_permission'
  if (!holder.own && resourcesOf(operation, prefix).length > 0) return 'not_found'
  if (holder.state !== 'unverified') return undefined
  if (resourcesOf(operation, prefix).includes(NOTHING_WHILE_UNVERIFIED)) return 'not_found'
  if (FIND_PUBLIC_KEYS.has(operation.id)) return 'not_found'
  return EXHAUSTED_WHILE_UNVERIFIED.has(operation.permission) ? 'limit_exceeded' : undefined
}

/** The first resource that the credential cannot reach. */
function missingOf(operation: OperationDefinition, prefix: Tier, credential: Credential): string {
  const holder: Holder | undefined = CREDENTIALS[credential]
  const [first = ''] = resourcesOf(operation, prefix)
  return holder?.own && !FIND_PUBLIC_KEYS.has(operation.id) ? NOTHING_WHILE_UNVERIFIED : first
}

function holds({ permission }: OperationDefinition, { state, signs }: Holder, permitted: boolean): boolean {
  if (signs && BEARER_ONLY.has(permission)) return false
  if (permission === 'any' || permission === 'organization_read') return true
  if (permission === 'agent_verify') return state === 'unverified'
  return permitted && !(state === 'unverified' && denied.has(permission))
}

/** Whether the path of an operation, without a prefix, names a resource. */
export function namesResource(operation: OperationDefinition): boolean {
  return resourcesOf(operation, 'organization').length > 0
}

/** The resources in the path below a prefix, in order. */
function resourcesOf(operation: OperationDefinition, prefix: Tier): string[] {
  const path = pathsOf(operation).find(({ tier }) => tier === prefix)?.path ?? operation.path
  const inPath = pathParameters(path).filter((name) => !WORD_PARAMETERS.has(name))
  const names = INBOX_IN_BODY.has(operation.id) ? [...inPath, 'inbox_id'] : inPath
  return names.map((name) => {
    const resource = RESOURCES[name]
    if (resource === undefined) throw new Error(`say in access.ts what {${name}} of ${operation.id} names`)
    return resource
  })
}
