import { z } from 'zod'
import { DISPOSITIONS } from '../../resources/attachment.ts'
import { isBase64 } from '../../schemas/base64.ts'
import { headerMap } from '../../schemas/header-map.ts'
import { labels } from '../../schemas/labels.ts'
import { readMidUrl } from '../../schemas/mid-url.ts'
import { isHttpUrl, line, prose, stringList } from '../../schemas/text.ts'
import { LIMITS } from '../../vocabulary/limits.ts'

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;.*)?$/

/**
 * An attachment: its content, a URL, or a reference to an attachment that the caller can read (mail 16, drive 9.1). The
 * bytes stay base64 here; the sender decodes them.
 */
export const sendAttachment = z
  .object({
    filename: line({ max: LIMITS.send.attachmentName }).optional(),
    content_type: line({ max: 255 }).regex(MEDIA_TYPE, { error: 'Must be a media type' }).optional(),
    content_disposition: z.enum(DISPOSITIONS).optional(),
    content_id: line({ min: 1, max: 255 })
      .regex(/^<?[^\s<>]+>?$/, { error: 'Must be one word' })
      .optional(),
    content: z
      .string()
      .refine(isBase64, { error: 'Must be base64' })
      .meta({ description: 'Base64 of the bytes.' })
      .optional(),
    url: z
      .string()
      .max(LIMITS.send.attachmentUrl, { abort: true })
      .refine((text) => isHttpUrl(text) || readMidUrl(text) !== undefined, {
        error: 'Must be an http or https URL, or mid:<message id>/<attachment id>',
      })
      .meta({
        description:
          'Fetched when the message is sent, or when the draft is created; a download link of this installation, or `mid:<message id without brackets, percent-encoded>/<attachment id>`, is read without a fetch.',
      })
      .optional(),
    message_id: line({ min: 1, max: LIMITS.send.messageId })
      .meta({ description: 'With `attachment_id`: the message whose attachment is sent.' })
      .optional(),
    attachment_id: line({ min: 1, max: LIMITS.send.messageId }).optional(),
    inbox_id: line({ min: 1, max: LIMITS.send.address })
      .meta({ description: 'The inbox of that message; default: the one that sends.' })
      .optional(),
  })
  .superRefine((given, context) => {
    const { content, url, message_id, attachment_id, inbox_id } = given
    const isReference = message_id !== undefined || attachment_id !== undefined || inbox_id !== undefined
    const sources = [content !== undefined, url !== undefined, isReference].filter(Boolean).length
    if (sources !== 1) {
      const message = 'Give exactly one of content, url, and message_id with attachment_id'
      context.addIssue({ code: 'custom', message })
    } else if (isReference && (message_id === undefined || attachment_id === undefined)) {
      context.addIssue({ code: 'custom', message: 'Give both message_id and attachment_id' })
    }
  })
  .meta({ id: 'SendAttachment' })
export type SendAttachment = z.output<typeof sendAttachment>

export const attachments = z.array(sendAttachment).max(LIMITS.send.attachments)

/** Addresses as text; their syntax is checked where they are parsed as mail addresses (mail 2). */
export const addresses = stringList(line({ min: 1, max: LIMITS.send.address }), LIMITS.send.recipients)

export const recipients = { to: addresses.optional(), cc: addresses.optional(), bcc: addresses.optional() }

/** Members of a message, whatever it is: new, an answer, or a forward. */
export const content = {
  reply_to: addresses.optional(),
  subject: line({ max: LIMITS.send.subject }).optional(),
  text: prose().optional(),
  html: prose().optional(),
  labels: labels.optional(),
  attachments: attachments.optional(),
  headers: headerMap({
    name: /^[!-9;-~]+$/,
    nameLength: LIMITS.send.customHeaderName,
    min: 0,
    max: LIMITS.send.customHeaders,
    bytes: LIMITS.send.customHeaderBytes,
  }).optional(),
  track_opens: z.boolean().optional(),
}

export interface GivenRecipients {
  readonly to?: readonly string[] | undefined
  readonly cc?: readonly string[] | undefined
  readonly bcc?: readonly string[] | undefined
}

/** Number of recipients in the body. */
export function countGiven({ to = [], cc = [], bcc = [] }: GivenRecipients): number {
  return to.length + cc.length + bcc.length
}

/** Refuses more recipients than a message may have. */
export function capRecipients(body: GivenRecipients, context: z.RefinementCtx): void {
  if (countGiven(body) <= LIMITS.send.recipients) return
  const message = `At most ${LIMITS.send.recipients} recipients in to, cc and bcc together`
  context.addIssue({ code: 'custom', path: ['to'], message })
}

/** Refuses recipients beside `reply_all`, which derives them. */
export function requireDerived(
  body: GivenRecipients & { readonly reply_all?: boolean | undefined },
  context: z.RefinementCtx,
): void {
  if (body.reply_all !== true || countGiven(body) === 0) return
  const message = 'reply_all derives the recipients; leave out to, cc and bcc'
  context.addIssue({ code: 'custom', path: ['reply_all'], message })
}

/** Body of a send (mail 8.2). A message without any recipient is well-formed and impossible: 422, by the service. */
export const sendBody = z.object({ ...recipients, ...content }).superRefine(capRecipients)
export type SendBody = z.output<typeof sendBody>

/** Body of a reply: recipients are derived where they are not given (mail 8.3). */
export const replyBody = z
  .object({ ...recipients, ...content, reply_all: z.boolean().optional() })
  .superRefine(capRecipients)
  .superRefine(requireDerived)
export type ReplyBody = z.output<typeof replyBody>

/** Body of a reply to all: recipients that are given are ignored (mail 8.2). */
export const replyAllBody = z.object(content)
export type ReplyAllBody = z.output<typeof replyAllBody>

/** Body of a forward: recipients are never derived (mail 8.3). */
export const forwardBody = sendBody
export type ForwardBody = SendBody
