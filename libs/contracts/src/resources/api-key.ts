import { z } from 'zod'
import { PERMISSIONS } from '../access/permissions.ts'
import { publicJwk } from '../schemas/public-jwk.ts'
import { clientId, instant } from '../schemas/text.ts'
import { apiKeyId, inboxId, podId } from '../vocabulary/ids.ts'
import { TIERS } from '../vocabulary/tiers.ts'

/** The granted permissions, and no others; the member is absent on an unrestricted key (identity 3.2). */
export const grantedPermissions = z
  .partialRecord(z.enum(PERMISSIONS), z.literal(true))
  .meta({ id: 'GrantedPermissions', description: 'Absent: unrestricted. Otherwise the permissions that are granted.' })

/** A bearer key as list, get and update show it; never the secret. */
export const bearerKey = z
  .object({
    type: z.literal('bearer'),
    api_key_id: apiKeyId,
    prefix: z.string().meta({ description: 'First characters of the secret.' }),
    name: z.string(),
    pod_id: podId.optional(),
    inbox_id: inboxId.optional(),
    permissions: grantedPermissions.optional(),
    used_at: instant.optional(),
    expires_at: instant.optional(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'BearerKey' })
export type BearerKey = z.infer<typeof bearerKey>

/**
 * A registered public key, or a sign-in key, the same in every response, because it has no secret (identity 3.2, apps 4).
 */
export const publicKeyCredential = z
  .object({
    type: z.literal('public_key'),
    api_key_id: apiKeyId.meta({ description: 'Names the key in signatures: `keyid` of a signed request.' }),
    client_id: clientId.optional(),
    name: z.string(),
    status: z.enum(['pending', 'active']).optional().meta({
      description: 'Only of a sign-in key, which Connect and Authorize create.',
    }),
    public_key: z
      .object({
        jwk: publicJwk,
        fingerprint: z.string().meta({ description: 'RFC 7638 SHA-256 thumbprint, base64url.' }),
      })
      .optional()
      .meta({ description: 'Absent until the possession of a sign-in key was proven.' }),
    pod_id: podId.optional(),
    inbox_id: inboxId.optional(),
    permissions: grantedPermissions,
    created_by: z
      .object({ api_key_id: apiKeyId })
      .meta({ description: 'The credential that created it, which it outlives.' }),
    used_at: instant.optional(),
    expires_at: instant.optional(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'PublicKeyCredential' })
export type PublicKeyCredential = z.infer<typeof publicKeyCredential>

/** A public key in the form of older clients, which read its scope from one member. */
export const listedPublicKey = publicKeyCredential
  .extend({ scope: z.object({ type: z.enum(TIERS), id: z.string().optional() }) })
  .meta({ id: 'ListedPublicKey' })
export type ListedPublicKey = z.infer<typeof listedPublicKey>

/** That all sign-in keys of a scope were revoked; how often that happened in the organization. */
export const signInKeyRevocation = z
  .object({ previous_generation: z.int(), current_generation: z.int(), revoked_at: instant })
  .meta({ id: 'SignInKeyRevocation' })
export type SignInKeyRevocation = z.infer<typeof signInKeyRevocation>

/** A credential of any family; `type` distinguishes them. */
export const apiKey = z.discriminatedUnion('type', [bearerKey, publicKeyCredential]).meta({ id: 'ApiKey' })
export type ApiKey = z.infer<typeof apiKey>

/** The one response that contains the secret. It has neither `type` nor `updated_at` (identity 3.2). */
export const createdBearerKey = bearerKey
  .omit({ type: true, used_at: true, updated_at: true })
  .extend({ api_key: z.string().meta({ description: 'The secret; shown only here.' }) })
  .meta({ id: 'CreatedBearerKey' })
export type CreatedBearerKey = z.infer<typeof createdBearerKey>

/** The response to a create: a bearer key with its secret, or a public key. */
export const createdApiKey = z.union([createdBearerKey, publicKeyCredential]).meta({ id: 'CreatedApiKey' })
export type CreatedApiKey = z.infer<typeof createdApiKey>
