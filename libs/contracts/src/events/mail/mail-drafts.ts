import { z } from 'zod'
import { SEND_STATUSES } from '../../resources/draft.ts'
import { mailScope } from '../../schemas/mail-scope.ts'
import { defineTopic, routingWithin } from '../definition/topic.ts'

const at = z.iso.datetime()

/** What identifies a draft, which none of its changes affects. */
const identity = {
  ...mailScope,
  draft_id: z.guid(),
  version: z.int().meta({ description: 'Grows with each change of the draft; only a newer one is applied.' }),
  grown: z.int().optional().meta({
    description: 'Bytes that are stored more than before this change; negative where there are fewer.',
  }),
}

/** State of a draft, without anything that its author wrote (mail 11). */
export const draftState = z.object({
  ...identity,
  kind: z.enum(['new', 'reply', 'forward']),
  size: z.int().meta({ description: 'Bytes of its texts and its attachments.' }),
  recipients: z.int().meta({ description: 'Number of its recipients.' }),
  send_status: z.enum(SEND_STATUSES).optional(),
  send_at: at.optional(),
  created_at: at,
  updated_at: at,
})
export type DraftState = z.infer<typeof draftState>

const events = {
  'draft.changed': { schema: draftState, summary: 'A draft was created or changed, or its schedule moved on.' },
  'draft.deleted': {
    schema: z.object({
      ...identity,
      message_id: z.string().optional().meta({ description: 'The message that it was sent as.' }),
      deleted_at: at,
    }),
    summary: 'A draft was deleted, or sent. Those of a deleted inbox, pod or organization may go without it.',
  },
} as const

interface DraftFacts {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly draft_id: string
}

/** An id is that of one draft for ever, so a deletion is final, whatever arrives after it. */
export const mailDraftsTopic = defineTopic({
  name: 'mail.drafts',
  producer: 'mail-send',
  summary: 'State of drafts at each change, without content, and deletions.',
  key: 'inbox_uid',
  subject: (facts: DraftFacts) => facts.draft_id,
  routing: routingWithin,
  events,
})
