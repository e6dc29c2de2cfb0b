import type { z } from 'zod'
import type { InternalPermission, Permission } from '../access/permissions.ts'
import type { ErrorCode } from '../vocabulary/errors.ts'
import type { IdempotencyKeyRule } from '../vocabulary/ids.ts'
import type { ServiceName } from '../vocabulary/services.ts'
import type { Tier } from '../vocabulary/tiers.ts'

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** How a request is authenticated: an API key, nothing at all, or a signature inside the URL (download links). */
export type Authentication = 'key' | 'none'

/** A body that is not JSON: bytes are streamed through untouched. */
export const BINARY = Symbol('binary body')

/** Success is a switch of protocol: the socket is handed over, there is no body and no ordinary handler. */
export const UPGRADE = Symbol('protocol upgrade')

/** The answer of a create that was made before: 200 with the resource in place of 201. */
export class Replayed<Document> {
  readonly document: Document

  constructor(document: Document) {
    this.document = document
  }
}

/** The part of a definition that public operations and calls between services have in common. */
export interface RequestContract {
  /** `<resource>.<verb>`, unique; names the operation in tokens, logs, metrics and the OpenAPI document. */
  readonly id: string
  readonly method: HttpMethod
  /** Path below the scope prefix, parameters in braces: `/threads/{thread_id}`. */
  readonly path: string
  readonly summary: string
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  /** `undefined`: the operation has no body and a sent one is ignored. */
  readonly body: z.ZodType | undefined
  /** `undefined`: success has no body (204). */
  readonly response: z.ZodType | typeof BINARY | typeof UPGRADE | undefined
  readonly status: 101 | 200 | 201 | 202 | 204
  /** The rule of its `Idempotency-Key` header; false: it has none, and a sent one is ignored. */
  readonly idempotencyKey: IdempotencyKeyRule | false
  /**
   * Whether a response has an `ETag` header: the `etag` of its document, or of the event in it. With `checked` the request
   * may also have an `If-Match` header.
   */
  readonly etag?: 'sent' | 'checked'
  /** Largest accepted body in bytes, and how its excess is answered. */
  readonly bodyLimit: { readonly bytes: number; readonly answer: 'payload_too_large' | 'infrastructure' }
}

/** One operation of the public API. */
export interface OperationDefinition extends RequestContract {
  readonly service: ServiceName
  /** Prefixes that offer it: `/v0`, `/v0/pods/{pod_id}`, `/v0/inboxes/{inbox_id}`. */
  readonly prefixes: readonly Tier[]
  /** Tiers of credential that may call it at all. */
  readonly tiers: readonly Tier[]
  /**
   * The permission that the gateway demands. `any`: every valid credential. Permissions that depend on the body are
   * named in `alsoNeeds` and enforced by the owning service.
   */
  readonly permission: Permission | InternalPermission | 'any'
  /** Required instead of `permission` if the request is signed with a registered public key (identity 2.4). */
  readonly signedPermission?: Permission
  readonly alsoNeeds?: readonly Permission[]
  readonly authentication: Authentication
  /** Whether the owning service gets the key itself, to call the API with it. */
  readonly passesKey?: true
  /** How long it may wait on purpose before it answers, in milliseconds: the edge waits so much longer for it. */
  readonly waits?: number
  /** Codes of its error responses in addition to those that follow from its shape (`errorCodesOf`). */
  readonly errors?: readonly ErrorCode[]
}

/** A call between services: never offered by the gateway, and only to the services it lists. */
export interface InternalOperationDefinition extends RequestContract {
  readonly service: ServiceName
  readonly method: 'POST'
  readonly callers: readonly ServiceName[]
  readonly body: z.ZodType
  readonly response: z.ZodType
  readonly idempotencyKey: false
}

/** Scope part of a path in front of an operation's own path. */
export const PREFIX: Record<Tier, string> = {
  organization: '/v0',
  pod: '/v0/pods/{pod_id}',
  inbox: '/v0/inboxes/{inbox_id}',
}
