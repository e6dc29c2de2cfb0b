import { z } from 'zod'
import { labelChangeMembers } from '../../schemas/labels.ts'
import { clientId, instantInput, line, stringList } from '../../schemas/text.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import {
  addresses,
  attachments,
  capRecipients,
  content,
  countGiven,
  recipients,
  requireDerived,
} from './send-bodies.ts'

const messageIdInput = line({ min: 1, max: LIMITS.send.messageId })
const NO_RECIPIENT = 'A scheduled draft needs a recipient'

const draftContent = {
  ...recipients,
  reply_to: content.reply_to,
  subject: content.subject,
  text: content.text,
  html: content.html,
  labels: content.labels,
  attachments: content.attachments,
  send_at: instantInput.meta({ description: 'When the draft is sent; a time in the past means at once.' }).optional(),
  client_id: clientId.optional(),
}

const replyAll = z
  .boolean()
  .meta({ description: 'The recipients are those of a reply to all; without to, cc and bcc.' })
  .optional()

/** Body of a new draft (mail 11.2). */
export const createDraftBody = z
  .object({
    ...draftContent,
    in_reply_to: messageIdInput.meta({ description: 'The message that the draft replies to.' }).optional(),
    reply_all: replyAll,
    forward_of: messageIdInput.meta({ description: 'The message that the draft forwards.' }).optional(),
  })
  .superRefine((body, context) => {
    capRecipients(body, context)
    requireDerived(body, context)
    const { in_reply_to, forward_of, reply_all, send_at } = body
    if (in_reply_to !== undefined && forward_of !== undefined) {
      const message = 'A draft replies to one message or forwards one: give in_reply_to or forward_of'
      context.addIssue({ code: 'custom', path: ['forward_of'], message })
    }
    if (reply_all === true && in_reply_to === undefined) {
      context.addIssue({ code: 'custom', path: ['reply_all'], message: 'Only with in_reply_to' })
    }
    if (send_at !== undefined && in_reply_to === undefined && countGiven(body) === 0) {
      context.addIssue({ code: 'custom', path: ['send_at'], message: NO_RECIPIENT })
    }
  })
export type CreateDraftBody = z.output<typeof createDraftBody>

/** Body of a draft that replies to the message in the path (mail 11.5). */
export const draftReplyBody = z
  .object({ ...draftContent, reply_all: replyAll })
  .superRefine(capRecipients)
  .superRefine(requireDerived)

/** Body of a draft that replies to everyone on the message in the path: given recipients are ignored (mail 8.2, 11.5). */
export const draftReplyAllBody = z.object(draftContent).omit({ to: true, cc: true, bcc: true })

/** Body of a draft that forwards the message in the path (mail 11.5). */
export const draftForwardBody = z.object(draftContent).superRefine((body, context) => {
  capRecipients(body, context)
  if (body.send_at === undefined || countGiven(body) > 0) return
  context.addIssue({ code: 'custom', path: ['send_at'], message: NO_RECIPIENT })
})

/** Body of a change: an omitted member is unchanged, `null` clears it, as `[]` clears recipients (mail 11.3). */
export const updateDraftBody = z
  .object({
    to: addresses.nullable().optional(),
    cc: addresses.nullable().optional(),
    bcc: addresses.nullable().optional(),
    reply_to: addresses.nullable().optional(),
    subject: content.subject.unwrap().nullable().optional(),
    text: content.text.unwrap().nullable().optional(),
    html: content.html.unwrap().nullable().optional(),
    send_at: instantInput.nullable().optional(),
    add_attachments: attachments.optional(),
    remove_attachments: stringList(z.string().max(LIMITS.send.messageId), LIMITS.send.attachments).optional(),
    ...labelChangeMembers,
  })
  .superRefine(({ to, cc, bcc }, context) =>
    capRecipients({ to: to ?? undefined, cc: cc ?? undefined, bcc: bcc ?? undefined }, context),
  )
export type UpdateDraftBody = z.output<typeof updateDraftBody>

/** Body of sending a draft (mail 11.5). */
export const sendDraftBody = z.object(labelChangeMembers)
export type SendDraftBody = z.output<typeof sendDraftBody>
