import { z } from 'zod'
import { BASE, BYTES, define, group, idParam, MAIL_BODY, VOID } from '../../definition/define.ts'
import { attachmentResponse } from '../../resources/attachment.ts'
import { draft, draftItem } from '../../resources/draft.ts'
import { sentMessage } from '../../resources/message.ts'
import { PAGE } from '../../resources/page.ts'
import { labelFilter } from '../../schemas/labels.ts'
import { capWhenFiltered, pageToken, queryBoolean, queryDateTime, queryInteger } from '../../schemas/query.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { TIERS } from '../../vocabulary/tiers.ts'
import {
  createDraftBody,
  draftForwardBody,
  draftReplyAllBody,
  draftReplyBody,
  sendDraftBody,
  updateDraftBody,
} from './draft-bodies.ts'

const params = z.object({ draft_id: idParam })

/** Reading: at every tier. */
const READ = { service: 'mail-send', prefixes: TIERS, tiers: TIERS, permission: 'draft_read' } as const

/** Writing: below an inbox only (mail 3). */
const WRITE = { service: 'mail-send', prefixes: ['inbox'], tiers: TIERS } as const

/**
 * A new draft needs `message_read` if it answers, forwards or attaches from a message, and `draft_send` if it has a
 * `send_at`.
 */
const CREATE = {
  ...WRITE,
  method: 'POST',
  permission: 'draft_create',
  alsoNeeds: ['message_read', 'draft_send'],
  bodyLimit: MAIL_BODY,
  response: draft,
  errors: ['message_rejected'],
} as const

/** Aliases of the draft that answers the message in the path (mail 11.5). */
const ANSWER = { ...CREATE, params: z.object({ message_id: idParam }) } as const

/** Drafts (mail 11). */
export const draftOperations = group({
  'drafts.list': define({
    ...BASE,
    ...READ,
    id: 'drafts.list',
    method: 'GET',
    path: '/drafts',
    summary: 'List drafts, the last changed first',
    query: z
      .object({
        limit: queryInteger({ min: 1, max: LIMITS.page.maxMail }).optional(),
        page_token: pageToken.optional(),
        ascending: queryBoolean.optional(),
        before: queryDateTime.optional(),
        after: queryDateTime.optional(),
        labels: labelFilter.optional(),
      })
      .superRefine((query, context) => capWhenFiltered(query, ['labels'], context)),
    response: z.object({ ...PAGE, drafts: z.array(draftItem) }),
  }),
  'drafts.get': define({
    ...BASE,
    ...READ,
    id: 'drafts.get',
    method: 'GET',
    path: '/drafts/{draft_id}',
    summary: 'Get a draft',
    params,
    response: draft,
  }),
  'drafts.getAttachment': define({
    ...BASE,
    ...READ,
    id: 'drafts.getAttachment',
    method: 'GET',
    path: '/drafts/{draft_id}/attachments/{attachment_id}',
    summary: 'Get a link to an attachment of a draft',
    params: params.extend({ attachment_id: idParam }),
    response: attachmentResponse,
  }),
  'drafts.create': define({
    ...BASE,
    ...CREATE,
    id: 'drafts.create',
    path: '/drafts',
    summary: 'Create a draft, or schedule a message with `send_at`; a repeated `client_id` returns the existing draft',
    body: createDraftBody,
  }),
  'drafts.update': define({
    ...BASE,
    ...WRITE,
    id: 'drafts.update',
    method: 'PATCH',
    path: '/drafts/{draft_id}',
    permission: 'draft_update',
    alsoNeeds: ['message_read', 'draft_send'],
    summary: 'Change a draft; what is omitted stays, `null` clears',
    bodyLimit: MAIL_BODY,
    errors: ['conflict', 'message_rejected'],
    params,
    body: updateDraftBody,
    response: draft,
  }),
  'drafts.delete': define({
    ...BASE,
    ...WRITE,
    ...VOID,
    id: 'drafts.delete',
    method: 'DELETE',
    path: '/drafts/{draft_id}',
    permission: 'draft_delete',
    summary: 'Delete a draft',
    errors: ['conflict'],
    params,
  }),
  'drafts.send': define({
    ...BASE,
    ...WRITE,
    id: 'drafts.send',
    method: 'POST',
    path: '/drafts/{draft_id}/send',
    permission: 'draft_send',
    summary: 'Send a draft now; it is deleted when its message is accepted',
    idempotencyKey: 'send',
    errors: ['message_rejected', 'inbox_paused', 'domain_not_verified', 'conflict', 'unprocessable'],
    params,
    body: sendDraftBody,
    response: sentMessage,
  }),
  'messages.draftReply': define({
    ...BASE,
    ...ANSWER,
    id: 'messages.draftReply',
    path: '/messages/{message_id}/draft-reply',
    summary: 'Create a draft that replies to a message (older name of `in_reply_to`)',
    body: draftReplyBody,
  }),
  'messages.draftReplyAll': define({
    ...BASE,
    ...ANSWER,
    id: 'messages.draftReplyAll',
    path: '/messages/{message_id}/draft-reply-all',
    summary: 'Create a draft that replies to everyone on a message (older name of `reply_all`)',
    body: draftReplyAllBody,
  }),
  'messages.draftForward': define({
    ...BASE,
    ...ANSWER,
    id: 'messages.draftForward',
    path: '/messages/{message_id}/draft-forward',
    summary: 'Create a draft that forwards a message (older name of `forward_of`)',
    body: draftForwardBody,
  }),
  'draftFiles.download': define({
    ...BASE,
    ...BYTES,
    id: 'draftFiles.download',
    method: 'GET',
    path: '/draft-files/{token}',
    prefixes: ['organization'],
    tiers: [],
    permission: 'any',
    authentication: 'none',
    service: 'mail-send',
    summary: 'Download the attachment of a draft that a signed link names; an expired or altered link is 403',
    errors: ['forbidden'],
    params: z.object({ token: idParam }),
  }),
})
