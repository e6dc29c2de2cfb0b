import type { Handlers } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import type { Sender } from './sender.ts'

/** The operations that send (mail 8.1). */
export function sendingRoutes(
  sender: Sender,
): Pick<Handlers<'mail-send'>, 'messages.send' | 'messages.reply' | 'messages.replyAll' | 'messages.forward'> {
  return {
    'messages.send': ({ body, ...request }) =>
      sender.send({ kind: 'send', body }, { ...request, inbox: requireInbox(request.caller) }),
    'messages.reply': ({ body, params, ...request }) =>
      sender.send(
        { kind: 'reply', messageId: params.message_id, body },
        { ...request, inbox: requireInbox(request.caller) },
      ),
    'messages.replyAll': ({ body, params, ...request }) =>
      sender.send(
        { kind: 'reply_all', messageId: params.message_id, body },
        { ...request, inbox: requireInbox(request.caller) },
      ),
    'messages.forward': ({ body, params, ...request }) =>
      sender.send(
        { kind: 'forward', messageId: params.message_id, body },
        { ...request, inbox: requireInbox(request.caller) },
      ),
  }
}
