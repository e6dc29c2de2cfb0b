import { z } from 'zod'
import { instant } from '../schemas/text.ts'
import { inboxId, podId } from '../vocabulary/ids.ts'

/** One inbox signed in at one app. It exists from the first sign-in on. */
export const account = z
  .object({
    account_id: z.guid(),
    app_id: z.guid(),
    app_name: z.string().optional(),
    provider_id: z.guid().meta({ description: 'Older name of app_id.' }),
    provider_name: z.string().optional().meta({ description: 'Older name of app_name.' }),
    organization_id: z.guid(),
    pod_id: podId,
    inbox_id: inboxId,
    first_signed_in_at: instant,
    last_signed_in_at: instant,
    sign_in_count: z.int().min(1),
    status: z.literal('disabled').optional().meta({ description: 'Absent: the inbox may sign in.' }),
    disabled_at: instant.optional(),
  })
  .meta({ id: 'Account' })
export type Account = z.infer<typeof account>
