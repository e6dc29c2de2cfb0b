import { z } from 'zod'
import { apiKeyId, inboxId, podId } from '../ids.ts'
import { PERMISSIONS } from '../permissions.ts'
import { instant } from '../schemas/text.ts'

/** The granted permissions, and no others; the member is absent on an unrestricted key (identity 3.2). */
export const grantedPermissions = z
  .partialRecord(z.enum(PERMISSIONS), z.literal(true))
  .meta({ id: 'GrantedPermissions', description: 'Absent: unrestricted. Otherwise the permissions that are granted.' })

/** A bearer key as list, get and update show it; never the secret. */
export const apiKey = z
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
  .meta({ id: 'ApiKey' })
export type ApiKey = z.infer<typeof apiKey>

/** The one answer that holds the secret. It has neither `type` nor `updated_at` (identity 3.2). */
export const createdApiKey = apiKey
  .omit({ type: true, used_at: true, updated_at: true })
  .extend({ api_key: z.string().meta({ description: 'The secret; shown only here.' }) })
  .meta({ id: 'CreatedApiKey' })
export type CreatedApiKey = z.infer<typeof createdApiKey>
