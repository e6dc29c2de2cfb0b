import { z } from 'zod'
import { isPermission, PERMISSIONS, type PermissionGrant, RENAMED_PERMISSIONS } from '../../access/permissions.ts'
import { BASE, define, group, idParam, VOID } from '../../definition/define.ts'
import { apiKey, createdApiKey } from '../../resources/api-key.ts'
import { PAGE } from '../../resources/page.ts'
import { givenPublicJwk } from '../../schemas/public-jwk.ts'
import { orderedPageQuery } from '../../schemas/query.ts'
import { clientId, instantInput, line, refused } from '../../schemas/text.ts'
import { jsonMap } from '../../validation/json-object.ts'
import { byPresence } from '../../validation/variants.ts'
import { onWire } from '../../validation/wire.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { TIERS } from '../../vocabulary/tiers.ts'

const renamed: ReadonlyMap<string, string> = new Map(Object.entries(RENAMED_PERMISSIONS))

const grantOnWire = {
  type: 'object',
  maxProperties: LIMITS.apiKey.permissions,
  properties: Object.fromEntries(PERMISSIONS.map((name) => [name, { type: 'boolean' }])),
}

/** A `permissions` object: unknown names are dropped, the two renamed ones refused (identity 3.4 rule 6). */
export const permissionGrant = onWire(
  jsonMap(LIMITS.apiKey.permissions).transform((given, context): PermissionGrant => {
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
  grantOnWire,
)

export const apiKeyName = line({ min: 1, max: LIMITS.name.max })
const params = z.object({ api_key_id: idParam })

/** `null` would mean an unrestricted key, which a public key never is (identity 3.2, 3.5). */
export const ownPermissions = onWire(
  permissionGrant.nullable().transform((given, context): PermissionGrant => {
    if (given !== null) return given
    context.addIssue({ code: 'custom', message: 'Must not be null: a public key has permissions of its own' })
    return z.NEVER
  }),
  grantOnWire,
)
const permissions = permissionGrant.nullable().optional()

const newBearerKey = z.object({
  name: apiKeyName.optional(),
  permissions,
  expires_at: instantInput.refine((at) => at.getTime() > Date.now(), { error: 'Must be in the future' }).optional(),
})

/**
 * The expiry is checked later, because it does not matter if a known client_id returns an existing key (identity 1.1).
 */
export const newPublicKey = z.object({
  public_key: givenPublicJwk,
  client_id: clientId.optional(),
  name: apiKeyName.optional(),
  permissions: ownPermissions.optional(),
  expires_at: instantInput.optional(),
})

const KEY = { service: 'gateway', prefixes: TIERS, tiers: TIERS } as const

/** Bearer keys and public keys (identity 3). */
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
    summary: 'Create a bearer key, whose secret is shown only in this answer, or register a public key',
    errors: ['permission_escalation', 'unrestricted_key_required', 'limit_exceeded', 'conflict'],
    // Presence alone selects the variant (identity 3.3): a wrong public_key must never create a bearer key.
    body: byPresence('public_key', newPublicKey, newBearerKey),
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
        name: apiKeyName.optional(),
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
