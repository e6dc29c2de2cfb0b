import type { Tier } from '../vocabulary/tiers.ts'

/**
 * Fixed segments of the whole route table in the position of a parameter, whether or not this version has their
 * operations (identity 1.2, 4.3): a path with one of them never names a resource. Other paths need no entry.
 */
export const RESERVED_PATHS: readonly { readonly path: string; readonly prefixes: readonly Tier[] }[] = [
  { path: '/api-keys/public-keys', prefixes: ['organization'] },
  { path: '/api-keys/agentid-sign-in', prefixes: ['organization'] },
  { path: '/inboxes/search', prefixes: ['organization', 'pod'] },
  { path: '/messages/search', prefixes: ['inbox'] },
  { path: '/messages/batch-get', prefixes: ['inbox'] },
  { path: '/messages/batch-update', prefixes: ['inbox'] },
  { path: '/messages/send', prefixes: ['inbox'] },
  { path: '/threads/search', prefixes: ['organization', 'pod', 'inbox'] },
  { path: '/webhooks/polling', prefixes: ['organization', 'pod', 'inbox'] },
  { path: '/apps/search', prefixes: ['organization'] },
  { path: '/providers/search', prefixes: ['organization'] },
]

/** The parameter whose value may contain unencoded slashes, as the Python client sends it (identity 1.2). */
export const MESSAGE_ID_PARAMETER = 'message_id'
