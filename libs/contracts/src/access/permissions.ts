import { RESTRICTED_LABELS, type RestrictedLabel, restrictedAmong } from '../vocabulary/mail/labels.ts'
import type { Tier } from '../vocabulary/tiers.ts'

/** Grantable permissions by subject (identity 4.1). Complete: any other name in a `permissions` object is dropped. */
export const PERMISSION_GROUPS = {
  inboxes: ['inbox_read', 'inbox_create', 'inbox_update', 'inbox_delete'],
  messages: ['message_read', 'message_send', 'message_reply', 'message_update', 'message_delete'],
  labels: ['label_spam_read', 'label_blocked_read', 'label_unauthenticated_read', 'label_trash_read'],
  drafts: ['draft_read', 'draft_create', 'draft_update', 'draft_delete', 'draft_send'],
  webhooks: ['webhook_read', 'webhook_create', 'webhook_update', 'webhook_delete'],
  domains: ['domain_read', 'domain_create', 'domain_update', 'domain_delete'],
  lists: ['list_entry_read', 'list_entry_create', 'list_entry_delete'],
  metrics: ['metrics_read'],
  keys: ['api_key_read', 'api_key_create', 'api_key_update', 'api_key_delete'],
  apps: ['app_connect', 'app_share_owner', 'account_update'],
  pods: ['pod_read', 'pod_create', 'pod_update', 'pod_delete'],
  calendar: [
    'calendar_read',
    'calendar_update',
    'calendar_event_read',
    'calendar_event_create',
    'calendar_event_update',
    'calendar_event_delete',
  ],
} as const

/** All 47 names, in the order of the groups. */
export const PERMISSIONS = [
  ...PERMISSION_GROUPS.inboxes,
  ...PERMISSION_GROUPS.messages,
  ...PERMISSION_GROUPS.labels,
  ...PERMISSION_GROUPS.drafts,
  ...PERMISSION_GROUPS.webhooks,
  ...PERMISSION_GROUPS.domains,
  ...PERMISSION_GROUPS.lists,
  ...PERMISSION_GROUPS.metrics,
  ...PERMISSION_GROUPS.keys,
  ...PERMISSION_GROUPS.apps,
  ...PERMISSION_GROUPS.pods,
  ...PERMISSION_GROUPS.calendar,
] as const
export type Permission = (typeof PERMISSIONS)[number]

const names: ReadonlySet<string> = new Set(PERMISSIONS)

/** Whether a name can be granted to a key. */
export function isPermission(name: string): name is Permission {
  return names.has(name)
}

/**
 * Rights that no key can be granted; they appear only in the `fix` of a refusal (identity 4.1): `organization_read` is
 * the organization tier, `agent_verify` that tier of an agent organization that is not verified yet, or a provisional
 * key.
 */
export const INTERNAL_PERMISSIONS = ['organization_read', 'agent_verify'] as const
export type InternalPermission = (typeof INTERNAL_PERMISSIONS)[number]

/** Old names of renamed permissions; a request that sends one is answered 400 at that member (identity 3.4 rule 6). */
export const RENAMED_PERMISSIONS = { provider_connect: 'app_connect', provider_share_owner: 'app_share_owner' } as const

/** The permission without which an item with a restricted label is invisible (mail 4.4). */
export const LABEL_PERMISSIONS = {
  spam: 'label_spam_read',
  blocked: 'label_blocked_read',
  unauthenticated: 'label_unauthenticated_read',
  trash: 'label_trash_read',
} as const satisfies Record<RestrictedLabel, Permission>

/** The permissions of a credential, as stored in caller tokens, events and rows of the gateway. */
export interface CredentialRights {
  /** Granted names; absent: unrestricted. */
  readonly permissions?: readonly string[] | ReadonlySet<string> | undefined
  /** Stored apart from the list, because omitting the list does not grant `app_connect` (identity 3.4 rule 7). */
  readonly app_connect: boolean
}

/**
 * Whether a credential has a permission: by being unrestricted or by name, and `app_connect` by its own flag only
 * (identity 3.4). Every check of a permission uses this function.
 */
export function holdsPermission({ permissions, app_connect }: CredentialRights, permission: Permission): boolean {
  if (permission === 'app_connect') return app_connect
  if (permissions === undefined) return true
  return 'has' in permissions ? permissions.has(permission) : permissions.includes(permission)
}

/** Restricted labels whose items a credential can see (mail 4.4), in the order of event headers. */
export function visibleLabels(rights: CredentialRights): RestrictedLabel[] {
  return RESTRICTED_LABELS.filter((label) => holdsPermission(rights, LABEL_PERMISSIONS[label]))
}

/** Whether an item with these labels exists for a credential (mail 4.4 rules 1 and 8). */
export function seesLabels(rights: CredentialRights, labels: readonly string[]): boolean {
  return restrictedAmong(labels).every((label) => holdsPermission(rights, LABEL_PERMISSIONS[label]))
}

/** Denied to every key of an agent organization whose human is not verified (identity 5.4). */
export const DENIED_WHILE_UNVERIFIED = [
  'api_key_create',
  'pod_create',
  'pod_update',
  'pod_delete',
  'app_connect',
] as const satisfies readonly Permission[]

const ALL_TIERS: readonly Tier[] = ['organization', 'pod', 'inbox']

/**
 * Tiers of credential that can use a permission (identity 4.2). One that its tier cannot use may be stored with a key;
 * it has no effect (identity 3.4 rule 11).
 */
export function tiersOfPermission(permission: Permission | InternalPermission): readonly Tier[] {
  if (permission === 'organization_read' || permission === 'agent_verify' || permission === 'pod_create') {
    return ['organization']
  }
  if (permission === 'inbox_create' || permission.startsWith('pod_') || permission.startsWith('domain_')) {
    return ['organization', 'pod']
  }
  return ALL_TIERS
}

/** The permissions of a key: absent for an unrestricted key, which has all but `app_connect` (identity 3.4). */
export type PermissionGrant = { readonly [P in Permission]?: boolean }
