import type { ResponseOf } from '@restante/contracts/operations'
import { TOOL_LIMITS } from '@restante/contracts/vocabulary'
import { z } from 'zod'
import { done, page, quoted } from '../../answers/answer.ts'
import { modelDocument } from '../../answers/document.ts'
import type { BodyReader } from '../../untrusted/index.ts'
import {
  DATA_NOTICE,
  inboxId,
  included,
  labelChange,
  maxChars,
  paging,
  searched,
  strings,
  threadId,
  timed,
} from '../definition/inputs.ts'
import { success, thread, threads, updatedThread } from '../definition/outputs.ts'
import { defineTool, type Tool } from '../definition/tool.ts'
import { onWire } from '../definition/wire.ts'
import { withBody } from './bodies.ts'
import { foundThread, isLeftOut } from './visibility.ts'

const named = (id: string) => ({ thread_id: id })

export const threadTools: readonly Tool[] = [
  defineTool({
    name: 'list_threads',
    title: 'List Threads',
    description: `List conversations of an inbox, the last active first. Filter by labels, sender, recipient, subject or time. ${DATA_NOTICE}`,
    kind: 'reads',
    openWorld: true,
    input: z.object({
      inboxId,
      ...paging,
      ...timed,
      labels: strings('Only threads with all of these labels, for example unread'),
      senders: strings('Only threads with senders that contain all of these'),
      recipients: strings('Only threads with recipients that contain all of these'),
      subject: strings('Only threads with subjects that contain all of these'),
      ...included,
    }),
    output: threads,
    needs: ['threads.list'],
    run: async ({ api }, { inboxId: inbox, ...query }) =>
      page('threads', await api.call('threads.list', { inboxId: inbox, query: onWire(query) })),
  }),
  defineTool({
    name: 'search_threads',
    title: 'Search Threads',
    description: `Search the conversations of an inbox by words in senders, recipients, subjects and texts, best match first. Spam and trash are left out. ${DATA_NOTICE}`,
    kind: 'reads',
    openWorld: true,
    input: z.object({ inboxId, ...searched }),
    output: threads,
    needs: ['threads.search'],
    run: async ({ api }, { inboxId: inbox, ...query }) => {
      const found = await api.call('threads.search', { inboxId: inbox, query: onWire(query) })
      return page('threads', { ...found, threads: found.threads.map(foundThread) })
    },
  }),
  defineTool({
    name: 'get_thread',
    title: 'Get Thread',
    description: `Get a conversation with its newest messages and what each of them adds, oldest first. ${DATA_NOTICE}`,
    kind: 'reads',
    openWorld: true,
    input: z.object({ inboxId, threadId, ...paging, maxChars, ...included }),
    output: thread,
    needs: ['threads.get'],
    run: async ({ api, reader }, { inboxId: inbox, threadId: id, limit, pageToken, maxChars, ...flags }) => {
      const { messages, ...rest } = await api.call('threads.get', {
        inboxId: inbox,
        params: named(id),
        query: onWire({ limit, pageToken }),
      })
      const shown = messages.filter(({ labels }) => !isLeftOut(labels, flags))
      const leftOut = messages.length - shown.length
      const document = {
        ...modelDocument(isLeftOut(rest.labels, flags) ? outlineOf(rest, shown) : rest),
        ...(leftOut > 0 && { leftOut }),
        messages: await withBodies(reader, shown, maxChars),
      }
      return quoted('The thread:', document, hints(document))
    },
  }),
  defineTool({
    name: 'update_thread',
    title: 'Update Thread',
    description: 'Add labels to all messages of a conversation and remove others, for example unread.',
    kind: 'changes',
    openWorld: false,
    input: z.object({ inboxId, threadId, ...labelChange }),
    output: updatedThread,
    needs: ['threads.update'],
    run: async ({ api }, { inboxId: inbox, threadId: id, ...change }) => {
      const updated = await api.call('threads.update', { inboxId: inbox, params: named(id), body: onWire(change) })
      return quoted('The thread now has these labels:', modelDocument(updated))
    },
  }),
  defineTool({
    name: 'delete_thread',
    title: 'Delete Thread',
    description: 'Delete a conversation with all its messages. This cannot be undone.',
    kind: 'acts',
    openWorld: false,
    input: z.object({ inboxId, threadId }),
    output: success,
    needs: ['threads.delete'],
    run: async ({ api }, { inboxId: inbox, threadId: id }) => {
      await api.call('threads.delete', { inboxId: inbox, params: named(id) })
      return done('The thread is deleted.')
    },
  }),
]

type Thread = ResponseOf<'threads.get'>
type Message = Thread['messages'][number]

/** Of a thread with messages that are left out: without what the document of the thread has from them. */
function outlineOf(
  { subject: _, preview: __, attachments: ___, ...thread }: Omit<Thread, 'messages'>,
  shown: readonly Message[],
) {
  return {
    ...thread,
    senders: [...new Set(shown.map(({ from }) => from))],
    recipients: [...new Set(shown.flatMap(({ to, cc = [], bcc = [] }) => [...to, ...cc, ...bcc]))],
  }
}

/** Messages with their bodies, one after another, so that a thread of slow ones takes no more than its turn. */
async function withBodies(reader: BodyReader, messages: readonly Message[], maxChars: number) {
  // All bodies together are no longer than a single one may be.
  const share = Math.min(maxChars, Math.floor(TOOL_LIMITS.bodyCharacters.max / messages.length))
  const found: Record<string, unknown>[] = []
  for (const message of messages) found.push(await withBody(reader, message, { maxChars: share }))
  return found
}

function hints({ leftOut, nextPageToken }: { readonly leftOut?: number; readonly nextPageToken?: unknown }): string[] {
  const left = `${leftOut} messages are left out: they are spam, blocked, unauthenticated or trash. Ask for them with includeSpam, includeBlocked, includeUnauthenticated, includeTrash.`
  const more = `There are older messages: call again with pageToken ${JSON.stringify(nextPageToken)}.`
  return [...(leftOut === undefined ? [] : [left]), ...(typeof nextPageToken === 'string' ? [more] : [])]
}
