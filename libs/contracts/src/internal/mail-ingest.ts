import { z } from 'zod'
import { NOTHING } from '../definition/define.ts'
import { attachment } from '../resources/attachment.ts'
import { blobReference, mailScope } from '../schemas/mail-scope.ts'
import { sentCopy } from '../schemas/sent-copy.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { RESTRICTED_LABELS } from '../vocabulary/mail/labels.ts'
import { defineInternal, INTERNAL, internalGroup } from './definition/define.ts'

/** The message that is answered: the source of recipients, subject, threading headers and quote (mail 8.3). */
export const replySource = z.object({
  message_id: z.string(),
  thread_id: z.guid(),
  sent: z.boolean().meta({ description: "The inbox's own sent message." }),
  timestamp: z.iso.datetime(),
  from: z.string(),
  author: z.string().optional().meta({
    description: 'The mailbox that an answer goes to without Reply-To; absent where `From` names no single one.',
  }),
  to: z.array(z.string()),
  cc: z.array(z.string()).optional(),
  reply_to: z.array(z.string()).optional(),
  subject: z.string().optional(),
  references: z.array(z.string()),
  text: z.string().optional(),
  html: z.string().optional(),
  attachments: z.array(attachment),
})
export type ReplySource = z.infer<typeof replySource>

/** A file that was copied: what a message says of it, and what is now stored under the name of its blob. */
export const copiedFile = attachment.omit({ attachment_id: true }).extend({ sha256: z.string() })
export type CopiedFile = z.infer<typeof copiedFile>

const sentMessage = z.object({ inbox_uid: z.guid(), message_id: z.string() })

const visibleLabels = z
  .array(z.enum(RESTRICTED_LABELS))
  .max(RESTRICTED_LABELS.length)
  .meta({ description: "What the caller's key may see (mail 4.4)." })
const blobName = z
  .string()
  .regex(/^files\/[0-9a-f-]{36}$/)
  .meta({ description: 'Where mail-send expects the bytes.' })

/** Calls from mail-send to the owner of the mailbox. */
export const mailIngestInternalOperations = internalGroup({
  'mail-ingest.getReplySource': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.getReplySource',
    path: '/internal/messages/reply-source',
    service: 'mail-ingest',
    callers: ['mail-send'],
    summary: 'Read a message to reply to; without `source` it is unknown, or hidden from the caller',
    body: z.object({
      inbox_uid: z.guid(),
      message_id: z.string(),
      visible_labels: visibleLabels,
    }),
    response: z.object({ source: replySource.optional() }),
  }),
  /** Attachments that are sent again, without their bytes passing through the caller (drive 9.1). Repeatable. */
  'mail-ingest.copyFiles': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.copyFiles',
    path: '/internal/messages/copy-files',
    service: 'mail-ingest',
    callers: ['mail-send'],
    summary: 'Copy attachments of a message, or what a download link names, to blobs of mail-send; all or none',
    body: z.object({
      source: z.union([
        z.object({
          inbox_uid: z.guid(),
          message_id: z.string(),
          visible_labels: visibleLabels,
          attachments: z
            .array(z.object({ attachment_id: z.string(), blob: blobName }))
            .min(1)
            .max(LIMITS.mime.parts),
        }),
        z.object({ link: z.string().meta({ description: 'Token of a download link.' }), blob: blobName }),
      ]),
      max_bytes: z.int().min(0).meta({ description: 'Of all of them together.' }),
    }),
    response: z.union([
      z.object({ files: z.array(copiedFile).meta({ description: 'In the order of the request.' }) }),
      z.object({ refused: z.enum(['no_message', 'no_attachment', 'no_link', 'too_large']) }),
    ]),
  }),
  /** Makes the sender read its own write; the event does the same when this call fails. Twice has one effect. */
  'mail-ingest.placeSent': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.placeSent',
    path: '/internal/messages/place-sent',
    service: 'mail-ingest',
    callers: ['mail-send'],
    summary: 'Put the copy of a sent message into its mailbox',
    body: sentCopy,
    response: NOTHING,
  }),
  /** Creates the same rows as SMTP, with the verdict `internal`. A repeated delivery returns the first outcome. */
  'mail-ingest.acceptInbound': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.acceptInbound',
    path: '/internal/inbound/accept',
    service: 'mail-ingest',
    callers: ['mail-send'],
    summary: 'Hand over a mail for an inbox hosted here',
    body: z.object({
      delivery_id: z.guid(),
      ...mailScope,
      recipient: z.string(),
      mail_from: z.string(),
      sender_organization_id: z.guid().optional().meta({ description: 'Absent for mail of the installation itself.' }),
      blob: blobReference.meta({ description: 'The raw message; the mailbox keeps a copy of its own.' }),
      fields: z.string().max(4_096).optional().meta({
        description: 'Header fields that only this recipient gets, each with its line break, in front of the message.',
      }),
    }),
    response: z.object({
      outcome: z.enum(['accepted', 'paused', 'unknown', 'limited', 'full', 'loop']).meta({
        description: '`limited` (a rate) and `full` (the storage of the organization) pass: hand over again later.',
      }),
    }),
  }),
  /** Mail of an inbox here to `postmaster` or `abuse`, as it would arrive by SMTP. A repeated delivery has one effect. */
  'mail-ingest.acceptForOperator': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.acceptForOperator',
    path: '/internal/inbound/accept-for-operator',
    service: 'mail-ingest',
    callers: ['mail-send'],
    summary: 'Hand over a mail to the operator of the installation',
    body: z.object({
      delivery_id: z.guid(),
      recipient: z.string(),
      mail_from: z.string(),
      sender_organization_id: z.guid().optional().meta({ description: 'Absent for mail of the installation itself.' }),
      blob: blobReference.meta({ description: 'The raw message.' }),
    }),
    response: z.object({
      outcome: z
        .enum(['accepted', 'limited', 'too_large', 'loop'])
        .meta({ description: '`limited` (a rate) passes: hand over again later.' }),
    }),
  }),
  /** A notice is in the sending inbox what a report of another server is. A repeated one returns the first outcome. */
  'mail-ingest.acceptNotice': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.acceptNotice',
    path: '/internal/inbound/accept-notice',
    service: 'mail-ingest',
    callers: ['mail-send'],
    summary: 'Store a notice about a failed delivery in the inbox that sent the message',
    body: z.object({
      delivery_id: z.guid().meta({ description: 'Of the notice.' }),
      ...mailScope,
      recipient: z.string(),
      message_id: z.string().meta({ description: 'Of the message that the notice is about.' }),
      blob: blobReference,
    }),
    response: z.object({
      outcome: z
        .enum(['accepted', 'paused', 'unknown', 'limited', 'full', 'loop', 'unwanted', 'no_message'])
        .meta({ description: 'Only `no_message` may change: while its copy is not placed yet.' }),
    }),
  }),
  /** A message that was sent and has no copy, nor was its copy deleted: what placed it was lost. */
  'mail-ingest.findMissingCopies': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.findMissingCopies',
    path: '/internal/messages/find-missing-copies',
    service: 'mail-ingest',
    callers: ['mail-send'],
    summary: 'Tell which of these sent messages have no copy in their mailbox and should have one',
    body: z.object({ messages: z.array(sentMessage).min(1).max(200) }),
    response: z.object({ missing: z.array(sentMessage) }),
  }),
  /** What a webhook is sent again on request must not contain mail that was deleted since (events 8.3). */
  'mail-ingest.findMessages': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.findMessages',
    path: '/internal/messages/find',
    service: 'mail-ingest',
    callers: ['webhooks-dispatcher'],
    summary: 'Tell which of these messages of an inbox exist',
    body: z.object({ inbox_uid: z.guid(), message_ids: z.array(z.string()).min(1).max(100) }),
    response: z.object({ message_ids: z.array(z.string()) }),
  }),
  /** Asked for each received mail with a calendar file; without `mail` it was deleted (calendar 15). */
  'mail-ingest.getCalendarFiles': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.getCalendarFiles',
    path: '/internal/messages/calendar-files',
    service: 'mail-ingest',
    callers: ['calendar'],
    summary: 'Read the calendar files of a received mail, its sender and its labels as they are now',
    body: z.object({ inbox_uid: z.guid(), message_id: z.string() }),
    response: z.object({
      mail: z
        .object({
          organization_id: z.guid(),
          pod_id: z.guid(),
          labels: z.array(z.string()),
          from: z
            .string()
            .optional()
            .meta({ description: 'The address of its author; absent where there is not one.' }),
          authenticated: z.boolean().meta({ description: 'Whether that address was authenticated at arrival.' }),
          received_at: z.iso.datetime(),
          files: z
            .array(z.object({ content: z.base64() }))
            .meta({ description: 'Of type text/calendar or application/ics, each different one once.' }),
          too_large: z.boolean().meta({ description: 'A file above 1 MB was left out.' }),
          applied: z.boolean().optional().meta({ description: 'A calendar has applied its file before.' }),
        })
        .optional(),
    }),
  }),
  /** metrics compares its running totals with it daily. Counted in one moment, `at`. */
  'mail-ingest.countMailboxes': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.countMailboxes',
    path: '/internal/messages/count',
    service: 'mail-ingest',
    callers: ['metrics'],
    summary: 'Page through the mailboxes that have messages, with their counts and sizes; no `next` on the last page',
    body: z.object({ after: z.guid().optional(), limit: z.int().min(1).max(1_000) }),
    response: z.object({
      at: z.iso.datetime(),
      mailboxes: z.array(z.object({ ...mailScope, messages: z.int(), threads: z.int(), bytes: z.int() })),
      next: z.guid().optional(),
      unpublished_since: z.iso
        .datetime()
        .optional()
        .meta({ description: 'When the oldest event was raised that is not in Kafka yet.' }),
    }),
  }),
  /** Signing up again with a known human's address must not open mail that has arrived (identity 5.1). */
  'mail-ingest.hasReceivedMail': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.hasReceivedMail',
    path: '/internal/inbound/exists',
    service: 'mail-ingest',
    callers: ['gateway'],
    summary: 'Tell whether any mail was ever accepted for an organization',
    body: z.object({ organization_id: z.guid() }),
    response: z.object({ received: z.boolean() }),
  }),
  /** Unconfirmed organizations are deleted when they are inactive, which includes arriving mail (identity 5.4). */
  'mail-ingest.receivedSince': defineInternal({
    ...INTERNAL,
    id: 'mail-ingest.receivedSince',
    path: '/internal/inbound/since',
    service: 'mail-ingest',
    callers: ['gateway'],
    summary: 'Find the organizations with mail that arrived since a time',
    body: z.object({ organization_ids: z.array(z.guid()).max(500), since: z.iso.datetime() }),
    response: z.object({ organization_ids: z.array(z.guid()) }),
  }),
})
