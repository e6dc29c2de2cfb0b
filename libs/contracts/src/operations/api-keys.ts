import { z } from 'zod'
import { LIMITS } from '../limits.ts'
import { isPermission, PERMISSIONS, type PermissionGrant, RENAMED_PERMISSIONS } from '../permissions.ts'
import { apiKey, createdApiKey } from '../resources/api-key.ts'
import { PAGE } from '../resources/page.ts'
import { orderedPageQuery } from '../schemas/query.ts'
import { instantInput, line, refused } from '../schemas/text.ts'
import { onWire } from '../schemas/wire.ts'
import { TIERS } from '../tiers.ts'
import { BASE, define, group, idParam, VOID } from './define.ts'

const renamed: ReadonlyMap<string, string> = new Map(Object.entries(RENAMED_PERMISSIONS))

/** A `permissions` object: unknown names are dropped, the two renamed ones refused (identity 3.4 rule 6). */
export const permissionGrant = onWire(
  z.record(z.string(), z.unknown()).transform((given, context): PermissionGrant => {
    const grant: { -readonly [Name in keyof PermissionGrant]: PermissionGrant[Name] } = {}
    for (const [name, value] of Object.entries(given)) {
      const now = renamed.get(name)
      if (now !== undefined) {
        context.addIssue({ code: 'custom', path: [name], message: `This permission is now called ${now}` })
      }
      if (!isPermission(name)) continue
      if (typeof value === 'boolean') grant[name] = value
      else context.addIssue({ code: 'custom', path: [name], message: 'Must be true or false' })
    }
    return grant
  }),
  { type: 'object', properties: Object.fromEntries(PERMISSIONS.map((name) => [name, { type: 'boolean' }])) },
)

const name = line({ min: 1, max: LIMITS.name.max })
const params = z.object({ api_key_id: idParam })
const permissions = permissionGrant.nullable().optional()

const KEY = { service: 'gateway', prefixes: TIERS, tiers: TIERS } as const

/** Bearer keys (identity 3). */
export const apiKeyOperations = group({
  'apiKeys.list': define({
    ...BASE,
    ...KEY,
    id: 'apiKeys.list',
    method: 'GET',
    path: '/api-keys',
    permission: 'api_key_read',
    summary: 'List the keys inside the scope, newest first',
    query: z.object({ ...orderedPageQuery, type: z.enum(['bearer', 'public_key']).optional() }),
    response: z.object({ ...PAGE, api_keys: z.array(apiKey) }),
  }),
  'apiKeys.create': define({
    ...BASE,
    ...KEY,
    id: 'apiKeys.create',
    method: 'POST',
    path: '/api-keys',
    permission: 'api_key_create',
    summary: 'Create a key; its secret is shown only in this answer',
    errors: ['permission_escalation', 'unrestricted_key_required', 'limit_exceeded'],
    body: z.object({
      name: name.optional(),
      permissions,
      expires_at: instantInput.refine((at) => at.getTime() > Date.now(), { error: 'Must be in the future' }).optional(),
      // Presence alone selects the other variant (identity 3.3): it must never fall through to a bearer key.
      public_key: refused(
        'Registering a public key is not available here; leave public_key out to create a bearer key',
      ),
    }),
    response: createdApiKey,
  }),
  'apiKeys.get': define({
    ...BASE,
    ...KEY,
    id: 'apiKeys.get',
    method: 'GET',
    path: '/api-keys/{api_key_id}',
    permission: 'api_key_read',
    summary: 'Get a key; never its secret',
    params,
    response: apiKey,
  }),
  'apiKeys.update': define({
    ...BASE,
    ...KEY,
    id: 'apiKeys.update',
    method: 'PATCH',
    path: '/api-keys/{api_key_id}',
    permission: 'api_key_update',
    summary: 'Rename a key or change its permissions',
    errors: ['permission_escalation', 'unrestricted_key_required'],
    params,
    body: z
      .object({
        name: name.optional(),
        permissions,
        expires_at: refused('The expiry of a key cannot be changed; create a new key'),
      })
      .refine((body) => body.name !== undefined || body.permissions !== undefined, {
        error: 'Give at least one of name, permissions',
      }),
    response: apiKey,
  }),
  'apiKeys.delete': define({
    ...BASE,
    ...KEY,
    ...VOID,
    id: 'apiKeys.delete',
    method: 'DELETE',
    path: '/api-keys/{api_key_id}',
    permission: 'api_key_delete',
    summary: 'Delete a key; it stops at once',
    params,
  }),
})
