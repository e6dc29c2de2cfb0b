import { z } from 'zod'
import { page, quoted } from '../../answers/answer.ts'
import { modelDocument } from '../../answers/document.ts'
import {
  DATA_NOTICE,
  inboxId,
  included,
  labelChange,
  maxChars,
  messageId,
  offset,
  paging,
  searched,
  strings,
  timed,
} from '../definition/inputs.ts'
import { message, messages, updatedMessage } from '../definition/outputs.ts'
import { defineTool, type Tool } from '../definition/tool.ts'
import { onWire } from '../definition/wire.ts'
import { withBody } from './bodies.ts'
import { foundMessage } from './visibility.ts'

const listMessages = defineTool({
  name: 'list_messages',
  title: 'List Messages',
  description: `List received and sent messages of an inbox, newest first, without their bodies. Filter by labels, sender, recipient, subject or time. ${DATA_NOTICE}`,
  kind: 'reads',
  openWorld: true,
  input: z.object({
    inboxId,
    ...paging,
    ...timed,
    labels: strings('Only messages with all of these labels, for example unread'),
    from: strings('Only from senders that contain all of these'),
    to: strings('Only to recipients that contain all of these'),
    subject: strings('Only with subjects that contain all of these'),
    ...included,
  }),
  output: messages,
  needs: ['messages.list'],
  run: async ({ api }, { inboxId: inbox, ...query }) =>
    page('messages', await api.call('messages.list', { inboxId: inbox, query: onWire(query) })),
})

const searchMessages = defineTool({
  name: 'search_messages',
  title: 'Search Messages',
  description: `Search the messages of an inbox by words in senders, recipients, subjects and texts, best match first. Spam and trash are left out. ${DATA_NOTICE}`,
  kind: 'reads',
  openWorld: true,
  input: z.object({ inboxId, ...searched }),
  output: messages,
  needs: ['messages.search'],
  run: async ({ api }, { inboxId: inbox, ...query }) => {
    const found = await api.call('messages.search', { inboxId: inbox, query: onWire(query) })
    return page('messages', { ...found, messages: found.messages.map(foundMessage) })
  },
})

const updateMessage = defineTool({
  name: 'update_message',
  title: 'Update Message',
  description: 'Add labels to a message and remove others, for example unread.',
  kind: 'changes',
  openWorld: false,
  input: z.object({ inboxId, messageId, ...labelChange }),
  output: updatedMessage,
  needs: ['messages.update'],
  run: async ({ api }, { inboxId: inbox, messageId: id, ...change }) => {
    const updated = await api.call('messages.update', {
      inboxId: inbox,
      params: { message_id: id },
      body: onWire(change),
    })
    return quoted('The message now has these labels:', modelDocument(updated))
  },
})

const getMessage = defineTool({
  name: 'get_message',
  title: 'Get Message',
  description: `Get a message with its text: what it adds to the thread, or with full also what it quotes. A long text comes in parts. ${DATA_NOTICE}`,
  kind: 'reads',
  openWorld: true,
  input: z.object({
    inboxId,
    messageId,
    maxChars,
    offset,
    full: z.boolean().optional().describe('The text with quoted history and signature'),
  }),
  output: message,
  needs: ['messages.get'],
  run: async ({ api, reader }, { inboxId: inbox, messageId: id, ...part }) => {
    const found = await api.call('messages.get', { inboxId: inbox, params: { message_id: id } })
    return messageAnswer('The message:', await withBody(reader, found, part))
  },
})

/** An answer with one message, which says how to read on. */
function messageAnswer(lead: string, document: Record<string, unknown>) {
  const next = z.object({ body: z.object({ nextOffset: z.int() }) }).safeParse(document)
  const more = next.success
    ? [`The text goes on: call get_message again with offset ${next.data.body.nextOffset}.`]
    : []
  return quoted(lead, document, more)
}

export const messageTools = { listMessages, searchMessages, updateMessage, getMessage } as const satisfies Record<
  string,
  Tool
>
