import { z } from 'zod'
import { instant } from '../schemas/text.ts'
import { inboxId, organizationId, podId } from '../vocabulary/ids.ts'
import { LIST_DIRECTIONS, LIST_ENTRY_TYPES, LIST_TYPES } from '../vocabulary/mail/lists.ts'

/** An entry of an allow or block list (mail 12). */
export const listEntry = z
  .object({
    organization_id: organizationId,
    pod_id: podId.optional().meta({ description: 'Pod whose list it is on, or whose inbox.' }),
    inbox_id: inboxId.optional().meta({ description: 'Inbox whose list it is on.' }),
    entry: z.string().meta({ description: 'Address or domain: lower case, the domain in ASCII.' }),
    entry_type: z.enum(LIST_ENTRY_TYPES),
    direction: z.enum(LIST_DIRECTIONS),
    list_type: z.enum(LIST_TYPES),
    reason: z.string().optional(),
    read_only: z.boolean().meta({ description: 'Made by the service; it cannot be deleted.' }),
    created_at: instant,
  })
  .meta({ id: 'ListEntry' })
export type ListEntryRecord = z.infer<typeof listEntry>
