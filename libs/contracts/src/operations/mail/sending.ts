import { z } from 'zod'
import { BASE, define, group, idParam, MAIL_BODY } from '../../definition/define.ts'
import { sentMessage } from '../../resources/message.ts'
import { forwardBody, replyAllBody, replyBody, sendBody } from './send-bodies.ts'

const params = z.object({ message_id: idParam })

/** A public key may write to earlier correspondents with a permission of its own; a bearer key replies as it sends. */
const REPLY = { signedPermission: 'message_reply' } as const

const SEND = {
  service: 'mail-send',
  method: 'POST',
  prefixes: ['inbox'],
  tiers: ['organization', 'pod', 'inbox'],
  permission: 'message_send',
  alsoNeeds: ['message_read'],
  idempotencyKey: 'send',
  bodyLimit: MAIL_BODY,
  response: sentMessage,
  errors: ['message_rejected', 'inbox_paused', 'domain_not_verified', 'conflict', 'unprocessable'],
} as const

/** Sending (mail 8, 9). */
export const sendingOperations = group({
  'messages.send': define({
    ...BASE,
    ...SEND,
    id: 'messages.send',
    path: '/messages/send',
    summary: 'Send a message in a new thread',
    body: sendBody,
  }),
  'messages.reply': define({
    ...BASE,
    ...SEND,
    ...REPLY,
    id: 'messages.reply',
    path: '/messages/{message_id}/reply',
    summary: 'Reply within the thread of a message',
    params,
    body: replyBody,
  }),
  'messages.replyAll': define({
    ...BASE,
    ...SEND,
    ...REPLY,
    id: 'messages.replyAll',
    path: '/messages/{message_id}/reply-all',
    summary: 'Reply to everyone on a message; recipients are always derived',
    params,
    body: replyAllBody,
  }),
  'messages.forward': define({
    ...BASE,
    ...SEND,
    id: 'messages.forward',
    path: '/messages/{message_id}/forward',
    summary: 'Forward a message with its attachments, within its thread',
    params,
    body: forwardBody,
  }),
})
