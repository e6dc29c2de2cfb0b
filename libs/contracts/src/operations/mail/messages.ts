import { z } from 'zod'
import { BASE, BYTES, define, group, idParam, VOID } from '../../definition/define.ts'
import { attachmentResponse, rawMessageResponse } from '../../resources/attachment.ts'
import { inboxEvent } from '../../resources/inbox-event.ts'
import {
  foundMessage,
  message,
  messageBatch,
  messageItem,
  updatedMessage,
  updatedMessages,
} from '../../resources/message.ts'
import { PAGE } from '../../resources/page.ts'
import { labelChange, labelChangeMembers, requireLabels } from '../../schemas/labels.ts'
import { messageIds } from '../../schemas/message-ids.ts'
import { capWhenFiltered, orderedPageQuery, queryList } from '../../schemas/query.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { mailListQuery, mailSearchQuery } from './mail-lists.ts'

const params = z.object({ message_id: idParam })

const MESSAGE = {
  service: 'mail-ingest',
  prefixes: ['inbox'],
  tiers: ['organization', 'pod', 'inbox'],
} as const

/** Stored messages (mail 6, 7); they exist below an inbox only (mail 3). */
export const messageOperations = group({
  'messages.list': define({
    ...BASE,
    ...MESSAGE,
    id: 'messages.list',
    method: 'GET',
    path: '/messages',
    permission: 'message_read',
    summary: 'List sent and received messages, newest first',
    query: z
      .object({
        ...mailListQuery,
        from: queryList.optional(),
        to: queryList.optional(),
        subject: queryList.optional(),
      })
      .superRefine((query, context) => capWhenFiltered(query, ['labels', 'from', 'to', 'subject'], context)),
    response: z.object({ ...PAGE, messages: z.array(messageItem) }),
  }),
  'messages.search': define({
    ...BASE,
    ...MESSAGE,
    id: 'messages.search',
    method: 'GET',
    path: '/messages/search',
    permission: 'message_read',
    summary: 'Search in sender, recipients, subject and text of messages, best match first',
    query: z.object(mailSearchQuery),
    response: z.object({ ...PAGE, messages: z.array(foundMessage) }),
  }),
  'messages.batchGet': define({
    ...BASE,
    ...MESSAGE,
    id: 'messages.batchGet',
    method: 'POST',
    path: '/messages/batch-get',
    permission: 'message_read',
    summary: 'Get several messages without their bodies; ids that are not found are left out',
    body: z.object({ message_ids: messageIds(LIMITS.message.batchGet) }),
    response: messageBatch,
  }),
  'messages.batchUpdate': define({
    ...BASE,
    ...MESSAGE,
    id: 'messages.batchUpdate',
    method: 'POST',
    path: '/messages/batch-update',
    permission: 'message_update',
    summary: 'Add and remove labels of several messages together; ids that are not found are left out',
    errors: ['race_condition'],
    body: z
      .object({ message_ids: messageIds(LIMITS.message.batchUpdate), ...labelChangeMembers })
      .superRefine(requireLabels),
    response: updatedMessages,
  }),
  'messages.get': define({
    ...BASE,
    ...MESSAGE,
    id: 'messages.get',
    method: 'GET',
    path: '/messages/{message_id}',
    permission: 'message_read',
    summary: 'Get a message; reading does not change its labels',
    params,
    response: message,
  }),
  'messages.getRaw': define({
    ...BASE,
    ...MESSAGE,
    id: 'messages.getRaw',
    method: 'GET',
    path: '/messages/{message_id}/raw',
    permission: 'message_read',
    summary: 'Get a link to the raw message',
    params,
    response: rawMessageResponse,
  }),
  'messages.getAttachment': define({
    ...BASE,
    ...MESSAGE,
    id: 'messages.getAttachment',
    method: 'GET',
    path: '/messages/{message_id}/attachments/{attachment_id}',
    permission: 'message_read',
    summary: 'Get a link to an attachment',
    params: params.extend({ attachment_id: idParam }),
    response: attachmentResponse,
  }),
  'messages.update': define({
    ...BASE,
    ...MESSAGE,
    id: 'messages.update',
    method: 'PATCH',
    path: '/messages/{message_id}',
    permission: 'message_update',
    summary: 'Add and remove labels',
    errors: ['race_condition'],
    params,
    body: labelChange,
    response: updatedMessage,
  }),
  'messages.delete': define({
    ...BASE,
    ...MESSAGE,
    ...VOID,
    id: 'messages.delete',
    method: 'DELETE',
    path: '/messages/{message_id}',
    permission: 'message_delete',
    summary: 'Delete a message permanently',
    params,
  }),
  'inboxEvents.list': define({
    ...BASE,
    ...MESSAGE,
    id: 'inboxEvents.list',
    method: 'GET',
    path: '/events',
    permission: 'message_read',
    summary: 'List label changes, newest first',
    query: z.object(orderedPageQuery),
    response: z.object({ ...PAGE, events: z.array(inboxEvent) }),
  }),
  'files.download': define({
    ...BASE,
    ...BYTES,
    id: 'files.download',
    method: 'GET',
    path: '/files/{token}',
    prefixes: ['organization'],
    tiers: [],
    permission: 'any',
    authentication: 'none',
    service: 'mail-ingest',
    summary: 'Download what a signed link names; an expired or altered link is 403',
    errors: ['forbidden'],
    params: z.object({ token: idParam }),
  }),
})
