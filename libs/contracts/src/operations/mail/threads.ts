import { z } from 'zod'
import { BASE, define, group } from '../../definition/define.ts'
import { PAGE } from '../../resources/page.ts'
import { thread, threadItem } from '../../resources/thread.ts'
import { pageToken, queryInteger, queryList } from '../../schemas/query.ts'
import { threadId } from '../../vocabulary/ids.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { TIERS } from '../../vocabulary/tiers.ts'
import { capWhenFiltered, mailListQuery } from './mail-lists.ts'

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
  'threads.get': define({
    ...BASE,
    ...THREAD,
    id: 'threads.get',
    method: 'GET',
    path: '/threads/{thread_id}',
    permission: 'message_read',
    summary: 'Get a thread with a page of its messages; the first page has the newest',
    params: z.object({ thread_id: threadId }),
    query: z.object({
      limit: queryInteger({ min: 1, max: LIMITS.page.threadMessages }).optional(),
      page_token: pageToken.optional(),
    }),
    response: thread,
  }),
})
