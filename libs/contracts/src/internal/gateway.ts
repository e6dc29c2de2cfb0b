import { z } from 'zod'
import { caller, callerInbox, sendingRight } from '../access/caller.ts'
import { ownSendLimits } from '../access/send-limits.ts'
import { tenancyEntity } from '../events/tenancy.ts'
import { mailScope } from '../schemas/mail-scope.ts'
import { UPSTREAMS } from '../vocabulary/services.ts'
import { defineInternal, INTERNAL, internalGroup } from './definition/define.ts'

const hosted = {
  given: z.string(),
  ...mailScope,
  address: z.string(),
  others: z
    .array(z.object({ status: z.enum(['deliver', 'paused']), ...mailScope }))
    .optional()
    .meta({
      description:
        'Inboxes of other organizations at the same address: of the organizations that have had its domain, the one that holds it now gets the mail.',
    }),
}

/** Result for one recipient: `given` is the address in the request, `address` that of the inbox, without a plus tag. */
export const recipientAnswer = z.discriminatedUnion('status', [
  z.object({ status: z.literal('deliver'), ...hosted }),
  z.object({ status: z.literal('paused'), ...hosted }),
  z.object({ status: z.literal('unknown'), given: z.string() }),
])
export type RecipientAnswer = z.infer<typeof recipientAnswer>

/** Errors for a caller that was admitted shortly before. */
export const callerRefusalCode = z.enum([
  'unknown_api_key',
  'api_key_expired',
  'missing_permission',
  'forbidden',
  'not_found',
])

/** The caller as its rows are now, or why the same request would be refused now. */
export const callerConfirmation = z.discriminatedUnion('status', [
  z.object({ status: z.literal('confirmed'), caller }),
  z.object({
    status: z.literal('refused'),
    code: callerRefusalCode,
    message: z.string(),
    fix: z.string().optional(),
  }),
])

/** Calls to the owner of organizations, pods, inboxes and keys. */
export const gatewayInternalOperations = internalGroup({
  /**
   * mail-ingest calls it for each recipient before it answers RCPT, mail-send to find recipients that are hosted here.
   * Reads rows, not caches.
   */
  'gateway.resolveRecipients': defineInternal({
    ...INTERNAL,
    id: 'gateway.resolveRecipients',
    path: '/internal/recipients/resolve',
    service: 'gateway',
    callers: ['mail-ingest', 'mail-send'],
    summary: 'Tell for each address whether an inbox accepts its mail; answers in the order of the request',
    body: z.object({ addresses: z.array(z.string()).min(1).max(100) }),
    response: z.object({ recipients: z.array(recipientAnswer) }),
  }),
  /**
   * A projection of `tenancy` starts here and reconciles against it daily, and mail-ingest compares its inboxes with it on
   * command; `after` is the `next` of the previous page.
   */
  'gateway.snapshotTenancy': defineInternal({
    ...INTERNAL,
    id: 'gateway.snapshotTenancy',
    path: '/internal/tenancy/snapshot',
    service: 'gateway',
    callers: UPSTREAMS,
    summary: 'Page through every live organization, pod, inbox and credential; no `next` on the last page',
    body: z.object({ after: z.string().optional(), limit: z.int().min(1).max(1000) }),
    response: z.object({ entities: z.array(tenancyEntity), next: z.string().optional() }),
  }),
  /** Filters of webhooks and subscriptions name inboxes by address or client_id, pods by id or client_id. */
  'gateway.lookupInboxes': defineInternal({
    ...INTERNAL,
    id: 'gateway.lookupInboxes',
    path: '/internal/inboxes/lookup',
    service: 'gateway',
    callers: UPSTREAMS,
    summary: 'Find live inboxes and pods within a scope; missing ones are omitted',
    body: z.object({
      organization_id: z.guid(),
      pod_id: z.guid().optional().meta({ description: 'Narrows the scope to a pod.' }),
      inbox_uid: z.guid().optional().meta({ description: 'Narrows the scope to one inbox.' }),
      inboxes: z.array(z.string()).max(100).meta({ description: 'Address, client_id or uid.' }),
      pods: z.array(z.string()).max(100).meta({ description: 'Id or client_id.' }),
    }),
    response: z.object({
      inboxes: z.array(z.object({ given: z.string(), inbox_uid: z.guid(), pod_id: z.guid(), address: z.string() })),
      pods: z.array(z.object({ given: z.string(), pod_id: z.guid() })),
    }),
  }),
  /** Asked when a request's body, its turn or its attachments took so long that its caller token is out of date. */
  'gateway.confirmCaller': defineInternal({
    ...INTERNAL,
    id: 'gateway.confirmCaller',
    path: '/internal/callers/confirm',
    service: 'gateway',
    callers: UPSTREAMS,
    summary: 'Look the caller of an admitted request up again; from rows, not caches',
    body: z.object({ operation: z.string().meta({ description: 'Id of the public operation.' }), caller }),
    response: callerConfirmation,
  }),
  /** Asked when a scheduled draft is due, or an invitation has arrived: no request brings what the gateway knows. */
  'gateway.getSendingInbox': defineInternal({
    ...INTERNAL,
    id: 'gateway.getSendingInbox',
    path: '/internal/inboxes/sending',
    service: 'gateway',
    callers: ['mail-send', 'calendar'],
    summary: 'Tell what an inbox may send at present; without `sender` it is deleted. From rows, not caches',
    body: z.object({ inbox_uid: z.guid() }),
    response: z.object({
      sender: z
        .object({
          organization_id: z.guid(),
          inbox: callerInbox,
          sending: sendingRight,
          unverified: z.boolean(),
          send_limits: ownSendLimits.optional(),
          verified_at: z.iso.datetime().optional(),
          take_overs: z.int().meta({ description: 'Number of take-overs of the organization (identity 5.1).' }),
        })
        .optional(),
    }),
  }),
  /** The rates of bounces and complaints are counted where mail is sent; repeated as long as they are too high. */
  'gateway.suspendOrganization': defineInternal({
    ...INTERNAL,
    id: 'gateway.suspendOrganization',
    path: '/internal/organizations/suspend',
    service: 'gateway',
    callers: ['mail-send'],
    summary: 'Suspend an organization from sending, unless the operator has resumed it since the counting began',
    body: z.object({ organization_id: z.guid(), counted_since: z.iso.datetime() }),
    response: z.discriminatedUnion('outcome', [
      z.object({ outcome: z.literal('suspended') }),
      z.object({ outcome: z.literal('suspended_before') }),
      z.object({ outcome: z.literal('resumed'), resumed_at: z.iso.datetime() }),
      z.object({ outcome: z.literal('deleted') }),
    ]),
  }),
  /** Asked when a domain is registered; from rows, not caches. */
  'gateway.getDomainRights': defineInternal({
    ...INTERNAL,
    id: 'gateway.getDomainRights',
    path: '/internal/organizations/domain-rights',
    service: 'gateway',
    callers: ['domains-dns'],
    summary: 'Tell how many domains an organization may have, and whether it and the pod are live',
    body: z.object({ organization_id: z.guid(), pod_id: z.guid().optional() }),
    response: z.object({
      live: z.boolean(),
      domain_limit: z.int().min(0).optional().meta({ description: 'Absent: no limit.' }),
    }),
  }),
  /** Asked before a domain is narrowed: an inbox that exists must not lose its domain silently (domains 2.2, 4). */
  'gateway.countInboxesOn': defineInternal({
    ...INTERNAL,
    id: 'gateway.countInboxesOn',
    path: '/internal/inboxes/count-on-domain',
    service: 'gateway',
    callers: ['domains-dns'],
    summary: 'Count the live inboxes of an organization below a domain, or on it as well',
    body: z.object({
      organization_id: z.guid(),
      domain: z.string(),
      itself: z.boolean().meta({ description: 'Whether inboxes at exactly this domain count.' }),
      except: z
        .array(z.string())
        .max(1000)
        .meta({ description: 'Domains below it that, with all below them, do not.' }),
      except_pod: z.guid().optional().meta({ description: 'A pod whose inboxes do not count.' }),
    }),
    response: z.object({ count: z.int().min(0) }),
  }),
  /** Only the gateway knows the human, and whether the address was verified. Twice with one id has one effect. */
  'gateway.mailHuman': defineInternal({
    ...INTERNAL,
    id: 'gateway.mailHuman',
    path: '/internal/organizations/mail-human',
    service: 'gateway',
    callers: ['webhooks-dispatcher', 'apps-signin'],
    summary: 'Mail a text to the verified human of an organization, if it has one; a repeated id is the same mail',
    body: z.object({
      id: z.guid().meta({ description: 'Names the mail; repeating the call with it sends nothing twice.' }),
      organization_id: z.guid(),
      owner_id: z.string().optional().meta({ description: 'Mailed only while this is the human.' }),
      subject: z.string(),
      text: z.string(),
    }),
    response: z.object({
      mailed: z.boolean().meta({ description: 'False: there is no verified human, or another one.' }),
    }),
  }),
  /** The fan-out closes the streams of deleted keys, within a second of the deletion. */
  'gateway.verifyCredentials': defineInternal({
    ...INTERNAL,
    id: 'gateway.verifyCredentials',
    path: '/internal/credentials/verify',
    service: 'gateway',
    callers: ['websocket-fanout'],
    summary: 'Tell which of these credentials still authenticate: neither deleted nor expired',
    body: z.object({ credential_ids: z.array(z.guid()).max(1000) }),
    response: z.object({ live: z.array(z.guid()) }),
  }),
})
