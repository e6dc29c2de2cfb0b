import { z } from 'zod'
import { DISPOSITIONS } from '../../resources/attachment.ts'
import { isBase64 } from '../../schemas/base64.ts'
import { headerMap } from '../../schemas/header-map.ts'
import { labels } from '../../schemas/labels.ts'
import { isHttpUrl, line, prose, stringList } from '../../schemas/text.ts'
import { LIMITS } from '../../vocabulary/limits.ts'

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;.*)?$/

/** An attachment by content or by URL (mail 16). The bytes stay base64 here; the sender decodes them. */
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
      .refine((text) => isHttpUrl(text), { error: 'Must be an http or https URL' })
      .meta({ description: 'Fetched when the message is sent.' })
      .optional(),
  })
  .refine((given) => (given.content === undefined) !== (given.url === undefined), {
    error: 'Give exactly one of content and url',
  })
  .meta({ id: 'SendAttachment' })
export type SendAttachment = z.output<typeof sendAttachment>

/** Addresses as text; their syntax is checked where they are parsed as mail addresses (mail 2). */
const addresses = stringList(line({ min: 1, max: LIMITS.send.address }), LIMITS.send.recipients)

const recipients = { to: addresses.optional(), cc: addresses.optional(), bcc: addresses.optional() }

const content = {
  reply_to: addresses.optional(),
  subject: line({ max: LIMITS.send.subject }).optional(),
  text: prose().optional(),
  html: prose().optional(),
  labels: labels.optional(),
  attachments: z.array(sendAttachment).max(LIMITS.send.attachments).optional(),
  headers: headerMap({
    name: /^[!-9;-~]+$/,
    nameLength: LIMITS.send.customHeaderName,
    min: 0,
    max: LIMITS.send.customHeaders,
    bytes: LIMITS.send.customHeaderBytes,
  }).optional(),
  track_opens: z.boolean().optional(),
}

interface Recipients {
  readonly to?: readonly string[] | undefined
  readonly cc?: readonly string[] | undefined
  readonly bcc?: readonly string[] | undefined
}

function given({ to = [], cc = [], bcc = [] }: Recipients): number {
  return to.length + cc.length + bcc.length
}

function capRecipients(body: Recipients, context: z.RefinementCtx): void {
  if (given(body) <= LIMITS.send.recipients) return
  const message = `At most ${LIMITS.send.recipients} recipients in to, cc and bcc together`
  context.addIssue({ code: 'custom', path: ['to'], message })
}

/** Body of a send (mail 8.2). A message without any recipient is well-formed and impossible: 422, by the service. */
export const sendBody = z.object({ ...recipients, ...content }).superRefine(capRecipients)
export type SendBody = z.output<typeof sendBody>

/** Body of a reply: recipients are derived where they are not given (mail 8.3). */
export const replyBody = z
  .object({ ...recipients, ...content, reply_all: z.boolean().optional() })
  .superRefine(capRecipients)
  .refine((body) => body.reply_all !== true || given(body) === 0, {
    path: ['reply_all'],
    error: 'reply_all derives the recipients; leave out to, cc and bcc',
  })
export type ReplyBody = z.output<typeof replyBody>

/** Body of a reply to all: recipients that are given are ignored (mail 8.2). */
export const replyAllBody = z.object(content)
export type ReplyAllBody = z.output<typeof replyAllBody>
