import { z } from 'zod'
import { clientId, instant } from '../schemas/text.ts'
import { podId } from '../vocabulary/ids.ts'

/** A group of inboxes within an organization (identity 7). */
export const pod = z
  .object({ pod_id: podId, name: z.string(), client_id: clientId.optional(), created_at: instant, updated_at: instant })
  .meta({ id: 'Pod' })
export type Pod = z.infer<typeof pod>
