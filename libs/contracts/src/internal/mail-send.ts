import { z } from 'zod'
import { caller } from '../access/caller.ts'
import { NOTHING } from '../definition/define.ts'
import { listEntryState } from '../events/mail/mail-lists.ts'
import { mailScope } from '../schemas/mail-scope.ts'
import { sentCopy } from '../schemas/sent-copy.ts'
import { CALENDAR_LIMITS } from '../vocabulary/calendar.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { LIST_TYPES } from '../vocabulary/mail/lists.ts'
import { TIERS } from '../vocabulary/tiers.ts'
import { defineInternal, INTERNAL, internalGroup } from './definition/define.ts'

/** Names a message that was accepted moments ago. */
export const recentSend = z.object({ ...mailScope, message_id: z.string(), thread_id: z.guid() })
export type RecentSend = z.infer<typeof recentSend>

const unsubscribeToken = z.object({ token: z.string() })

/** Absent when the link was altered, or its delivery was deleted. */
const unsubscribeState = z.object({
  recipient: z.string().meta({ description: 'Masked: enough for its owner to recognize.' }),
  suppressed: z.boolean().meta({ description: 'The organization can mail the address no more.' }),
})
export type UnsubscribeState = z.infer<typeof unsubscribeState>

/** Of one mail: at most 20 addresses, each with its domain. */
const LISTED_NAMES = 40
/** Most mails of one question about lists. */
export const MAILS_ASKED_ABOUT = 50

/** Calls from the mailbox to the owner of sending. */
export const mailSendInternalOperations = internalGroup({
  /** A reply may arrive before the event of the mail that it answers. Threading then needs the sent copy at once. */
  'mail-send.getSentCopy': defineInternal({
    ...INTERNAL,
    id: 'mail-send.getSentCopy',
    path: '/internal/sent-copies/get',
    service: 'mail-send',
    callers: ['mail-ingest'],
    summary: 'Find the first of these messages that the inbox sent; without `copy` there is none',
    body: z.object({ inbox_uid: z.guid(), message_ids: z.array(z.string()).min(1).max(100) }),
    response: z.object({ copy: sentCopy.optional() }),
  }),
  /**
   * A message or thread that its mailbox does not know may just have been accepted (mail 6.3). One call looks up many,
   * and the response contains no content, which is read with `mail-send.getSentCopy`.
   */
  'mail-send.findRecentSends': defineInternal({
    ...INTERNAL,
    id: 'mail-send.findRecentSends',
    path: '/internal/sent-copies/find-recent',
    service: 'mail-send',
    callers: ['mail-ingest'],
    summary: `Tell which of these messages and threads were sent in the last ${LIMITS.send.copyAwaited / 60_000} minutes`,
    body: z.object({
      messages: z.array(z.object({ inbox_uid: z.guid(), message_id: z.string() })).max(100),
      threads: z.array(z.object({ organization_id: z.guid(), thread_id: z.guid() })).max(100),
    }),
    response: z.object({ sends: z.array(recentSend) }),
  }),
  /**
   * The mailbox knows lists from events, and an entry may have been deleted a moment ago: a mail is blocked only by what
   * the owner confirms (mail 12.4).
   */
  'mail-send.findListEntries': defineInternal({
    ...INTERNAL,
    id: 'mail-send.findListEntries',
    path: '/internal/list-entries/find',
    service: 'mail-send',
    callers: ['mail-ingest'],
    summary: 'Find the entries of receive and reply lists that name the senders of mails',
    body: z.object({
      mails: z
        .array(z.object({ ...mailScope, names: z.array(z.string()).min(1).max(LISTED_NAMES) }))
        .min(1)
        .max(MAILS_ASKED_ABOUT),
    }),
    response: z.object({
      mails: z
        .array(
          z.array(
            z.object({
              direction: z.enum(['receive', 'reply']),
              tier: z.enum(TIERS),
              type: z.enum(LIST_TYPES),
              entry: z.string().optional().meta({ description: 'Absent: there is an allow list, whomever it names.' }),
            }),
          ),
        )
        .meta({ description: 'In the order of the request.' }),
    }),
  }),
  /** mail-ingest compares its projection with it when the operator asks. */
  'mail-send.snapshotListEntries': defineInternal({
    ...INTERNAL,
    id: 'mail-send.snapshotListEntries',
    path: '/internal/list-entries/snapshot',
    service: 'mail-send',
    callers: ['mail-ingest'],
    summary: 'Page through the entries of all receive and reply lists, by id; no `next` on the last page',
    body: z.object({ after: z.guid().optional(), limit: z.int().min(1).max(1_000) }),
    response: z.object({ entries: z.array(listEntryState), next: z.guid().optional() }),
  }),
  /** metrics compares its running totals with it daily. Counted in one moment, `at`. */
  'mail-send.countDrafts': defineInternal({
    ...INTERNAL,
    id: 'mail-send.countDrafts',
    path: '/internal/drafts/count',
    service: 'mail-send',
    callers: ['metrics'],
    summary: 'Page through the inboxes that have drafts, with the bytes of these; no `next` on the last page',
    body: z.object({ after: z.guid().optional(), limit: z.int().min(1).max(1_000) }),
    response: z.object({
      at: z.iso.datetime(),
      inboxes: z.array(z.object({ ...mailScope, bytes: z.int() })),
      next: z.guid().optional(),
      unpublished_since: z.iso
        .datetime()
        .optional()
        .meta({ description: 'When the oldest event was raised that is not in Kafka yet.' }),
    }),
  }),
  /** A complaint that came to a registered address names a message and its recipient, not the delivery (events 1.3). */
  'mail-send.findDeliveries': defineInternal({
    ...INTERNAL,
    id: 'mail-send.findDeliveries',
    path: '/internal/deliveries/find',
    service: 'mail-send',
    callers: ['mail-ingest'],
    summary: 'Find deliveries to other servers by id, or by message and recipients, and the inboxes that sent them',
    body: z.union([
      z.object({ delivery_id: z.guid() }),
      z.object({ message_id: z.string(), recipients: z.array(z.string()).min(1).max(LIMITS.send.recipients) }),
    ]),
    response: z.object({
      deliveries: z.array(z.object({ delivery_id: z.guid(), ...mailScope })).meta({
        description: 'Without those that were handed over to an inbox here, and mail of the installation itself.',
      }),
    }),
  }),
  /** What the page behind a link to unsubscribe shows. */
  'mail-send.findUnsubscribe': defineInternal({
    ...INTERNAL,
    id: 'mail-send.findUnsubscribe',
    path: '/internal/unsubscribe/find',
    service: 'mail-send',
    callers: ['gateway'],
    summary: 'Find the delivery of a link to unsubscribe',
    body: unsubscribeToken,
    response: z.object({ unsubscribe: unsubscribeState.optional() }),
  }),
  /** One click (RFC 8058). Twice has one effect. */
  'mail-send.unsubscribe': defineInternal({
    ...INTERNAL,
    id: 'mail-send.unsubscribe',
    path: '/internal/unsubscribe/confirm',
    service: 'mail-send',
    callers: ['gateway'],
    summary: 'Suppress the recipient of the delivery of a link to unsubscribe',
    body: unsubscribeToken,
    response: z.object({ unsubscribe: unsubscribeState.optional() }),
  }),
  /** Loading the image of a message, at first and not with HEAD (mail 15.4). Twice has one effect. */
  'mail-send.recordOpen': defineInternal({
    ...INTERNAL,
    id: 'mail-send.recordOpen',
    path: '/internal/opens/record',
    service: 'mail-send',
    callers: ['gateway'],
    summary: 'Record that the image of a message was loaded; an unknown or altered token changes nothing',
    body: z.object({ token: z.string() }),
    response: NOTHING,
  }),
  /** Mail to `postmaster` and `abuse`, on its way to the operator's own server. Twice has one effect. */
  'mail-send.forwardToOperator': defineInternal({
    ...INTERNAL,
    id: 'mail-send.forwardToOperator',
    path: '/internal/system-mail/forward-to-operator',
    service: 'mail-send',
    callers: ['mail-ingest'],
    summary: 'Mail a received mail to the operator, as an attachment; a repeated id is the same mail',
    body: z.object({
      id: z.guid().meta({ description: 'Names the forwarded mail.' }),
      recipient: z.string().meta({ description: 'The address that it was sent to.' }),
      mail_from: z.string(),
      peer: z.string().optional().meta({ description: 'Absent for mail of an inbox here.' }),
      received_at: z.iso.datetime(),
      content: z.union([
        z.object({ bytes: z.base64().meta({ description: 'The raw mail, where it is small.' }) }),
        z.object({ blob: z.string().meta({ description: 'Its name in the blob store.' }) }),
      ]),
    }),
    response: NOTHING,
  }),
  /**
   * Invitations count as sends, and are counted before the calendar changes (calendar 14.1). With the same id each recipient
   * counts once.
   */
  'mail-send.chargeInvitations': defineInternal({
    ...INTERNAL,
    id: 'mail-send.chargeInvitations',
    path: '/internal/invitations/charge',
    service: 'mail-send',
    callers: ['calendar'],
    summary: 'Count invitations against the limits of an inbox that wants to send them',
    body: z.object({
      id: z.guid(),
      caller: caller.meta({ description: 'Of the request that sends them; with the inbox.' }),
      recipients: z.array(z.string()).min(1).max(CALENDAR_LIMITS.attendees),
    }),
    response: z.discriminatedUnion('outcome', [
      z.object({ outcome: z.literal('charged') }),
      z.object({
        outcome: z.literal('limited'),
        message: z.string(),
        retry_after: z.int().meta({ description: 'Seconds.' }),
        details: z.record(z.string(), z.union([z.string(), z.number()])),
      }),
    ]),
  }),
  /** Sends one invitation, change, cancellation or answer as mail of the inbox (calendar 14). Twice has one effect. */
  'mail-send.sendInvitation': defineInternal({
    ...INTERNAL,
    id: 'mail-send.sendInvitation',
    path: '/internal/invitations/send',
    service: 'mail-send',
    callers: ['calendar'],
    summary: 'Mail a calendar object to one address; a repeated id is the same mail',
    body: z.object({
      id: z.guid(),
      inbox_uid: z.guid(),
      to: z.string(),
      to_name: z.string().optional(),
      subject: z.string(),
      text: z.string(),
      method: z.enum(['REQUEST', 'CANCEL', 'REPLY']),
      calendar: z.string().meta({ description: 'The calendar object: CRLF, folded.' }),
      in_reply_to: z.string().optional().meta({ description: 'Message-ID of the mail that it belongs to.' }),
    }),
    response: z.discriminatedUnion('outcome', [
      z.object({ outcome: z.literal('sent'), message_id: z.string(), thread_id: z.guid() }),
      z.object({
        outcome: z.literal('refused'),
        reason: z.string().meta({ description: 'For the log: a code such as `message_rejected`. Final.' }),
      }),
    ]),
  }),
  /** Verification codes: mail of the installation itself, from `no-reply` of its own domain. Twice has one effect. */
  'mail-send.sendSystemMail': defineInternal({
    ...INTERNAL,
    id: 'mail-send.sendSystemMail',
    path: '/internal/system-mail/send',
    service: 'mail-send',
    callers: ['gateway'],
    summary: 'Mail a text to one address; a repeated id is the same mail',
    body: z.object({
      id: z.guid().meta({ description: 'Names the mail; repeating the call with it sends nothing twice.' }),
      to: z.string(),
      subject: z.string(),
      text: z.string(),
    }),
    response: NOTHING,
  }),
  /** A code is mailed again to the same human only if its mail bounced (identity 5.3). */
  'mail-send.hasSystemMailFailed': defineInternal({
    ...INTERNAL,
    id: 'mail-send.hasSystemMailFailed',
    path: '/internal/system-mail/failed',
    service: 'mail-send',
    callers: ['gateway'],
    summary: 'Tell whether a mail of the installation was refused or came back; an unknown one did not',
    body: z.object({ id: z.guid() }),
    response: z.object({ failed: z.boolean() }),
  }),
})
