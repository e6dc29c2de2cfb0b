import { randomUUID } from 'node:crypto'
import type { CallerInbox } from '@restante/contracts/access'
import type { InternalRequestOf } from '@restante/contracts/internal'
import { type Address, compose, type DkimKeys, hasControlCharacter } from '@restante/mime'
import {
  type AnsweredMessage,
  type ComposedMessage,
  display,
  extracted,
  safeThreading,
} from '../sending/content/message.ts'

/** A mail about an event (calendar 14.2). */
export type Invitation = InternalRequestOf<'mail-send.sendInvitation'>

export interface NewInvitation {
  readonly invitation: Invitation
  readonly inbox: CallerInbox
  readonly to: Address
  /** The mail that it belongs to, where the inbox still has it. */
  readonly answered: AnsweredMessage | undefined
  readonly messageId: string
  readonly dkim: DkimKeys | undefined
  /** Whether the inbox is on a domain of the installation, which sets some headers itself. */
  readonly sharedDomain: boolean
}

/** Composes a mail whose calendar object is a form of its text, and a file. It stays in the thread of what it belongs to. */
export async function composeInvitation({
  invitation,
  inbox,
  to,
  answered,
  messageId,
  dkim,
  sharedDomain,
}: NewInvitation): Promise<ComposedMessage> {
  const { subject, text, method, calendar } = invitation
  const { address, display_name } = inbox
  const from: Address = { address, ...(display_name !== undefined && { name: display_name }) }
  const date = new Date()
  const threading = answered ? safeThreading(answered.source, false) : threadingWithout(invitation)
  const mail = await compose({
    from,
    to: [to],
    subject,
    text,
    calendar: { method, content: calendar },
    messageId,
    ...threading,
    date,
    ...(dkim && { dkim }),
  })
  const threadId = answered?.threadId ?? randomUUID()
  return {
    // Another id in each attempt: bytes of one that failed are never those of the one that was accepted.
    id: randomUUID(),
    mail,
    threadId,
    unsubscribable: sharedDomain,
    tracked: false,
    copy: {
      message_id: messageId,
      thread_id: threadId,
      timestamp: date.toISOString(),
      from: display(from),
      to: [display(to)],
      subject,
      labels: [],
      ...(threading?.inReplyTo !== undefined && { in_reply_to: threading.inReplyTo }),
      ...(threading && { references: threading.references }),
      ...extracted({ text }),
    },
  }
}

/** What the recipient has of a mail that this inbox no longer has. */
function threadingWithout({ in_reply_to: id }: Invitation): { inReplyTo: string; references: string[] } | undefined {
  return id === undefined || hasControlCharacter(id) ? undefined : { inReplyTo: id, references: [id] }
}
