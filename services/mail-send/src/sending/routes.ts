import type { Caller, CallerInbox } from '@restante/contracts'
import { type Handlers, notFound } from '@restante/service'
import type { Sender } from './sender.ts'

/** The operations that send (mail 8.1). */
export function sendingRoutes(
  sender: Sender,
): Pick<Handlers<'mail-send'>, 'messages.send' | 'messages.reply' | 'messages.replyAll'> {
  return {
    'messages.send': ({ body, ...request }) =>
      sender.send({ kind: 'send', body }, { ...request, inbox: inboxOf(request.caller) }),
    'messages.reply': ({ body, params, ...request }) =>
      sender.send(
        { kind: 'reply', messageId: params.message_id, body },
        { ...request, inbox: inboxOf(request.caller) },
      ),
    'messages.replyAll': ({ body, params, ...request }) =>
      sender.send(
        { kind: 'reply_all', messageId: params.message_id, body },
        { ...request, inbox: inboxOf(request.caller) },
      ),
  }
}

/** These operations exist below an inbox only, and the gateway resolves it. */
function inboxOf(caller: Caller): CallerInbox {
  if (!caller.inbox) throw notFound('Inbox')
  return caller.inbox
}
