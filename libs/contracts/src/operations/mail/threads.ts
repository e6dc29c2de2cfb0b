import { z } from 'zod'
import { BASE, define, group, idParam, VOID } from '../../definition/define.ts'
import { attachmentResponse } from '../../resources/attachment.ts'
import { PAGE } from '../../resources/page.ts'
import { foundThread, thread, threadItem, updatedThread } from '../../resources/thread.ts'
import { labelChange } from '../../schemas/labels.ts'
import { capWhenFiltered, pageToken, queryInteger, queryList } from '../../schemas/query.ts'
import { threadId } from '../../vocabulary/ids.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { TIERS } from '../../vocabulary/tiers.ts'
import { mailListQuery, mailSearchQuery } from './mail-lists.ts'

const params = z.object({ thread_id: threadId })

const THREAD = { service: 'mail-ingest', prefixes: TIERS, tiers: TIERS } as const

/** Threads (mail 10). */
export const threadOperations = group({
  'threads.list': define({
    ...BASE,
    ...THREAD,
    id: 'threads.list',
    method: 'GET',
    path: '/threads',
    permission: 'message_read',
    summary: 'List threads by newest activity',
    query: z
      .object({
        ...mailListQuery,
        senders: queryList.optional(),
        recipients: queryList.optional(),
        subject: queryList.optional(),
      })
      .superRefine((query, context) => capWhenFiltered(query, ['labels', 'senders', 'recipients', 'subject'], context)),
    response: z.object({ ...PAGE, threads: z.array(threadItem) }),
  }),
  'threads.search': define({
    ...BASE,
    ...THREAD,
    id: 'threads.search',
    method: 'GET',
    path: '/threads/search',
    permission: 'message_read',
    summary: 'Search in the messages of threads, best match first',
    query: z.object(mailSearchQuery),
    response: z.object({ ...PAGE, threads: z.array(foundThread) }),
  }),
  'threads.get': define({
    ...BASE,
    ...THREAD,
    id: 'threads.get',
    method: 'GET',
    path: '/threads/{thread_id}',
    permission: 'message_read',
    summary: 'Get a thread with a page of its messages; the first page has the newest',
    params,
    query: z.object({
      limit: queryInteger({ min: 1, max: LIMITS.page.threadMessages }).optional(),
      page_token: pageToken.optional(),
    }),
    response: thread,
  }),
  'threads.getAttachment': define({
    ...BASE,
    ...THREAD,
    id: 'threads.getAttachment',
    method: 'GET',
    path: '/threads/{thread_id}/attachments/{attachment_id}',
    permission: 'message_read',
    summary: 'Get a link to an attachment of one of its messages',
    params: params.extend({ attachment_id: idParam }),
    response: attachmentResponse,
  }),
  'threads.update': define({
    ...BASE,
    ...THREAD,
    id: 'threads.update',
    method: 'PATCH',
    path: '/threads/{thread_id}',
    permission: 'message_update',
    summary: 'Add and remove labels of all its messages; a thread of 100 messages or more is refused',
    errors: ['race_condition', 'unprocessable'],
    params,
    body: labelChange,
    response: updatedThread,
  }),
  'threads.delete': define({
    ...BASE,
    ...THREAD,
    ...VOID,
    id: 'threads.delete',
    method: 'DELETE',
    path: '/threads/{thread_id}',
    permission: 'message_delete',
    summary: 'Delete a thread with all its messages permanently',
    params,
  }),
})
