import { z } from 'zod'
import { ownSendLimits } from './send-limits.ts'

/** What the organization may send at present; `only:<address>` while an agent's human is not verified. */
export const sendingRight = z.union([
  z.literal('ok'),
  z.literal('suspended'),
  z.literal('none'),
  z.templateLiteral(['only:', z.string()]),
])
export type SendingRight = z.infer<typeof sendingRight>

/** The inbox of a request, with the state of its row at the gateway when the request was admitted. */
export const callerInbox = z.object({
  /** Immutable identity; rows, topics, jobs and blob names use it, never the address. */
  uid: z.uuid(),
  /** `inbox_id` on the wire. */
  address: z.string(),
  pod_id: z.uuid(),
  display_name: z.string().optional(),
  paused: z.boolean(),
  /** Absent from a gateway of an earlier release. */
  created_at: z.iso.datetime().optional(),
})
export type CallerInbox = z.infer<typeof callerInbox>

export const callerCredential = z.object({
  id: z.uuid(),
  type: z.enum(['bearer', 'public_key']),
  /** The tier the credential is bound to; the request's own scope may be narrower. */
  tier: z.enum(['organization', 'pod', 'inbox']),
  /**
   * Granted names; absent means unrestricted. `app_connect` is listed separately because omitting the list does not
   * grant it.
   */
  permissions: z.array(z.string()).max(1000).optional(),
  app_connect: z.boolean(),
  /** A sign-up key that must still be confirmed with a code (identity, section 5.1). */
  provisional: z.boolean(),
  expires_at: z.iso.datetime().optional(),
})
export type CallerCredential = z.infer<typeof callerCredential>

/**
 * The caller of exactly one operation of one service. The gateway resolves it against the tree
 * organization > pod > inbox; a service filters every query by it. It travels as the claims of the caller token:
 * a JWT (HS256, 30 s) signed with the key that only the gateway and the addressed service share.
 */
export const caller = z.object({
  organization_id: z.uuid(),
  /**
   * Effective scope of the request: present when the path or the credential narrows it to a pod (or an inbox in it).
   */
  pod_id: z.uuid().optional(),
  /** The path itself names the pod: then only what belongs to this pod is meant, even where a pod sees more. */
  pod_in_path: z.literal(true).optional(),
  /** Present when the path or the credential narrows the request to one inbox. */
  inbox: callerInbox.optional(),
  credential: callerCredential,
  sending: sendingRight,
  /** Facts about the organization that determine rights: an agent organization whose human is not verified yet. */
  unverified: z.boolean(),
  /** With an inbox: what its organization may send, where the operator has set that (identity 1.9). */
  send_limits: ownSendLimits.optional(),
  /** With an inbox of an agent organization: when its human was verified. */
  verified_at: z.iso.datetime().optional(),
  /**
   * How often the organization had been taken over when the credential was looked up (identity 5.1); absent: never. A
   * service that has learned of a later take-over refuses to create anything for such a request.
   */
  take_overs: z.int().min(1).optional(),
  /** The organization's calendars are closed to its keys (calendar 1). Absent: they are open. */
  calendar_access: z.literal(false).optional(),
})
export type Caller = z.infer<typeof caller>
