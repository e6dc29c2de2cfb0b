import { z } from 'zod'
import { apiKeyId, inboxId, organizationId, podId } from '../vocabulary/ids.ts'
import { TIERS } from '../vocabulary/tiers.ts'

/** The response of `auth.me` (identity 6). */
export const scopeIdentity = z
  .object({
    scope_type: z.enum(TIERS),
    scope_id: z.string().meta({ description: 'The id of the tier that the credential is bound to.' }),
    organization_id: organizationId,
    pod_id: podId.optional(),
    inbox_id: inboxId.optional(),
    api_key_id: apiKeyId.optional(),
  })
  .meta({ id: 'ScopeIdentity' })
export type ScopeIdentity = z.infer<typeof scopeIdentity>
