import { z } from 'zod'
import { LIST_DIRECTIONS, LIST_ENTRY_TYPES, LIST_TYPES } from '../../vocabulary/mail/lists.ts'
import { defineTopic, routingWithin } from '../definition/topic.ts'

const at = z.iso.datetime()

/** What identifies an entry, which none of its changes affects. */
const identity = {
  organization_id: z.guid(),
  pod_id: z.guid().optional().meta({ description: 'Of an entry of a pod or of an inbox.' }),
  inbox_uid: z.guid().optional().meta({ description: 'Of an entry of an inbox.' }),
  entry_id: z.guid().meta({ description: 'An entry that is deleted and created again has another one.' }),
  version: z.int().meta({ description: 'Grows with each change of the entry; only a newer one is applied.' }),
  direction: z.enum(LIST_DIRECTIONS),
  type: z.enum(LIST_TYPES),
  entry: z.string().meta({ description: 'Address or domain: lower case, the domain in ASCII.' }),
}

/** Full state of an entry of an allow or block list (mail 12). */
export const listEntryState = z.object({
  ...identity,
  entry_type: z.enum(LIST_ENTRY_TYPES),
  reason: z.string().optional(),
  read_only: z.boolean().meta({ description: 'Made by the service; callers cannot delete it.' }),
  created_at: at,
  updated_at: at,
})
export type ListEntryState = z.infer<typeof listEntryState>

const events = {
  'list_entry.changed': { schema: listEntryState, summary: 'An entry was created, or its reason changed.' },
  'list_entry.deleted': {
    schema: z.object({ ...identity, deleted_at: at }),
    summary: 'An entry was deleted. Those of a deleted inbox, pod or organization may go without it.',
  },
} as const

interface ListFacts {
  readonly organization_id: string
  readonly pod_id?: string | undefined
  readonly inbox_uid?: string | undefined
  readonly entry_id: string
}

/** An id is that of one entry for ever, so a deletion is final, whatever arrives after it. */
export const mailListsTopic = defineTopic({
  name: 'mail.lists',
  producer: 'mail-send',
  summary: 'Entries of allow and block lists: full state at each change, and deletions.',
  key: 'organization_id',
  subject: (facts: ListFacts) => facts.entry_id,
  routing: routingWithin,
  events,
})
