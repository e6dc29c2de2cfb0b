import { z } from 'zod'
import { instant } from '../schemas/text.ts'
import { organizationId } from '../vocabulary/ids.ts'

/** States of an agent organization; an ordinary one has none (identity 5.5). */
export const AUTHENTICATION_TYPES = ['agent_unverified', 'agent_verified'] as const

export const organization = z
  .object({
    organization_id: organizationId,
    inbox_count: z.int().meta({ description: 'Live inboxes.' }),
    domain_count: z.int().meta({ description: 'Live domains.' }),
    inbox_limit: z.int().optional().meta({ description: 'Absent: no limit.' }),
    domain_limit: z.int().optional().meta({ description: 'Absent: no limit.' }),
    authentication_id: z.string().optional().meta({ description: "Address of the agent's human." }),
    authentication_type: z.enum(AUTHENTICATION_TYPES).optional(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Organization' })
export type Organization = z.infer<typeof organization>
