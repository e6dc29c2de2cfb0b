import { z } from 'zod'
import { plain } from '../../answers/answer.ts'
import { modelDocument } from '../../answers/document.ts'
import { inboxId, messageId, strings } from '../definition/inputs.ts'
import { sent } from '../definition/outputs.ts'
import { defineTool, type Tool } from '../definition/tool.ts'
import { onWire } from '../definition/wire.ts'

const attachment = z
  .object({
    filename: z.string().optional().describe('File name'),
    contentType: z.string().optional().describe('Media type'),
    contentDisposition: z.enum(['inline', 'attachment']).optional(),
    contentId: z.string().optional().describe('Content id of an inline file'),
    content: z.string().optional().describe('The file in base64'),
    url: z.string().optional().describe('Where the file is fetched'),
    messageId: z.string().optional().describe('With attachmentId: the message whose attachment it is'),
    attachmentId: z.string().optional().describe('With messageId: the attachment'),
    inboxId: z.string().optional().describe('Inbox of that message, if it is another one'),
  })
  .describe(
    'Give exactly one source. For a file that came by mail give messageId and attachmentId: it need not be read then',
  )

/** Arguments of everything that is written. */
export const written = {
  subject: z.string().optional().describe('Subject'),
  text: z.string().optional().describe('Text'),
  html: z.string().optional().describe('The same in HTML'),
  replyTo: strings('Where answers are to go'),
  labels: strings('Labels of your own'),
  attachments: z.array(attachment).optional().describe('Files'),
}

export const recipients = {
  to: strings('Recipients'),
  cc: strings('Recipients of copies'),
  bcc: strings('Recipients whom the others do not see'),
}
const to = z.array(z.string()).describe('Recipients: user@host, or Name <user@host>')

const sendMessage = defineTool({
  name: 'send_message',
  title: 'Send Message',
  description: 'Send an e-mail from an inbox, in a new conversation.',
  kind: 'acts',
  openWorld: true,
  input: z.object({ inboxId, ...recipients, to, ...written }),
  output: sent,
  needs: ['messages.send'],
  run: async ({ api }, { inboxId: inbox, ...body }) =>
    accepted(await api.call('messages.send', { inboxId: inbox, body: onWire(body) })),
})

const { subject: _ofTheThread, ...replyWritten } = written

const replyToMessage = defineTool({
  name: 'reply_to_message',
  title: 'Reply To Message',
  description:
    'Answer a message in its conversation. The answer goes to its sender; with replyAll to everyone on it; or to the recipients that you give.',
  kind: 'acts',
  openWorld: true,
  input: z.object({
    inboxId,
    messageId,
    replyAll: z.boolean().optional().describe('To everyone on the message; without to, cc and bcc'),
    ...recipients,
    ...replyWritten,
  }),
  output: sent,
  needs: ['messages.reply'],
  run: async ({ api }, { inboxId: inbox, messageId: id, ...body }) =>
    accepted(await api.call('messages.reply', { inboxId: inbox, params: { message_id: id }, body: onWire(body) })),
})

const forwardMessage = defineTool({
  name: 'forward_message',
  title: 'Forward Message',
  description: 'Forward a message with its attachments to new recipients.',
  kind: 'acts',
  openWorld: true,
  input: z.object({ inboxId, messageId, ...recipients, to, ...written }),
  output: sent,
  needs: ['messages.forward'],
  run: async ({ api }, { inboxId: inbox, messageId: id, ...body }) =>
    accepted(await api.call('messages.forward', { inboxId: inbox, params: { message_id: id }, body: onWire(body) })),
})

/** The ids of a message that was accepted, which are not text of others. */
export function accepted(document: { readonly message_id: string; readonly thread_id: string }) {
  const text = `Accepted for delivery. messageId: ${document.message_id}, threadId: ${document.thread_id}`
  return plain(text, modelDocument(document))
}

export const sendingTools: readonly Tool[] = [sendMessage, replyToMessage, forwardMessage]
