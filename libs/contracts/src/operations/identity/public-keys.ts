import { z } from 'zod'
import { BASE, define, group, idParam, NOTHING, VOID } from '../../definition/define.ts'
import { listedPublicKey, signInKeyRevocation } from '../../resources/api-key.ts'
import { PAGE } from '../../resources/page.ts'
import { orderedPageQuery } from '../../schemas/query.ts'
import { refused } from '../../schemas/text.ts'
import { TIERS } from '../../vocabulary/tiers.ts'
import { apiKeyName, newPublicKey, ownPermissions } from './api-keys.ts'

const KEYS = { ...BASE, service: 'gateway', prefixes: ['organization'], tiers: TIERS } as const

const params = z.object({ api_key_id: idParam })

const REVOKE = {
  ...KEYS,
  method: 'POST',
  permission: 'api_key_delete',
  summary: 'Revoke all sign-in keys in the scope of the key; with the same Idempotency-Key, a UUID, once',
  idempotencyKey: 'connect',
  body: NOTHING,
  errors: ['conflict'],
  response: signInKeyRevocation,
} as const

/** Public keys under the paths of older clients (identity 3.1). */
export const publicKeyOperations = group({
  'publicKeys.list': define({
    ...KEYS,
    id: 'publicKeys.list',
    method: 'GET',
    path: '/api-keys/public-keys',
    permission: 'api_key_read',
    summary: 'Older path of the list of public keys',
    query: z.object(orderedPageQuery),
    response: z.object({ ...PAGE, public_keys: z.array(listedPublicKey) }),
  }),
  'publicKeys.create': define({
    ...KEYS,
    id: 'publicKeys.create',
    method: 'POST',
    path: '/api-keys/public-keys',
    permission: 'api_key_create',
    summary: 'Older path of registering a public key',
    errors: ['permission_escalation', 'limit_exceeded', 'conflict', 'not_found'],
    body: newPublicKey.extend({
      scope: z
        .object({ type: z.enum(TIERS), id: z.string().min(1).optional() })
        .refine(({ type, id }) => type === 'organization' || id !== undefined, { error: 'Required', path: ['id'] })
        .optional()
        .meta({ description: 'At most that of the calling key. Default: that scope.' }),
    }),
    response: listedPublicKey,
  }),
  'publicKeys.update': define({
    ...KEYS,
    id: 'publicKeys.update',
    method: 'PATCH',
    path: '/api-keys/public-keys/{api_key_id}',
    permission: 'api_key_update',
    summary: 'Older path of renaming a public key, or changing its permissions',
    errors: ['permission_escalation'],
    params,
    body: z
      .object({
        name: apiKeyName.optional(),
        permissions: ownPermissions.optional(),
        expires_at: refused('The expiry of a key cannot be changed; create a new key'),
      })
      .refine((body) => body.name !== undefined || body.permissions !== undefined, {
        error: 'Give at least one of name, permissions',
      }),
    response: listedPublicKey,
  }),
  'publicKeys.delete': define({
    ...KEYS,
    ...VOID,
    id: 'publicKeys.delete',
    method: 'DELETE',
    path: '/api-keys/public-keys/{api_key_id}',
    permission: 'api_key_delete',
    summary: 'Older path of deleting a public key',
    params,
  }),
  'publicKeys.revokeSignIn': define({
    ...REVOKE,
    id: 'publicKeys.revokeSignIn',
    path: '/api-keys/public-keys/agentid-sign-in/revoke-all',
  }),
  'apiKeys.revokeSignIn': define({
    ...REVOKE,
    id: 'apiKeys.revokeSignIn',
    path: '/api-keys/agentid-sign-in/revoke-all',
  }),
})
