import type { CreateDraftBody, UpdateDraftBody } from '@restante/contracts/operations'
import { DRAFT_LABEL, LIMITS } from '@restante/contracts/vocabulary'
import { type Address, formatAddress, preview, type ReplySource } from '@restante/mime'
import { invalid } from '@restante/service/errors'
import {
  derivedRecipients,
  type GivenAddresses,
  type Recipients,
  readAddresses,
} from '../../sending/checks/recipients.ts'
import { tooManyRecipients } from '../../sending/checks/refusals.ts'
import { type AnsweredMessage, derivedSubject } from '../../sending/content/message.ts'
import type { DraftContent, DraftKind, DraftRow } from '../state/store.ts'

const SCHEDULED_LABEL = 'scheduled'

/** What a new draft has, apart from its attachments: what is given, and for a reply what follows from its source. */
export function newContent(
  body: CreateDraftBody,
  given: GivenAddresses,
  answered: AnsweredMessage | undefined,
  ownAddress: string,
): Omit<DraftContent, 'size'> {
  const { subject, text = null, html = null, send_at = null } = body
  const isForward = body.forward_of !== undefined
  const recipients = answered && !isForward ? repliedTo(body, given, answered.source, ownAddress) : given
  requireFew(recipients)
  return {
    to: recipients.to.map(display),
    cc: recipients.cc.map(display),
    bcc: recipients.bcc.map(display),
    reply_to: given.replyTo.map(display),
    subject: subject ?? derivedSubject({ answered, isForward }) ?? null,
    text,
    html,
    preview: previewOf(text),
    labels: labelsOf(body.labels ?? [], send_at),
    send_at,
    send_status: send_at === null ? null : 'scheduled',
  }
}

/** Without an author whom it could go to, a reply to all has nobody yet, and is refused when it is sent (mail 13). */
function repliedTo(body: CreateDraftBody, given: GivenAddresses, source: ReplySource, ownAddress: string): Recipients {
  const isAuthorless = !source.sentByInbox && source.author === undefined && source.replyTo.length === 0
  if (body.reply_all === true && isAuthorless) return given
  return derivedRecipients({ kind: 'reply', body }, given, source, ownAddress)
}

/**
 * What a draft has after a change (mail 11.3).
 * @throws ApiError 400 for recipients or labels beyond their limits, or a scheduled draft without a recipient. A reply may have
 * none, as when it is created (mail 11.2): it fails when it is due.
 */
export function changedContent(row: DraftRow, body: UpdateDraftBody): Omit<DraftContent, 'size'> {
  const given = readAddresses({ to: body.to, cc: body.cc, bcc: body.bcc, reply_to: body.reply_to })
  const list = (field: 'to' | 'cc' | 'bcc' | 'reply_to', addresses: readonly Address[]): readonly string[] =>
    body[field] === undefined ? row[field] : addresses.map(display)
  const [to, cc, bcc] = [list('to', given.to), list('cc', given.cc), list('bcc', given.bcc)]
  requireFew({ to, cc, bcc })
  const { text = row.text, html = row.html, subject = row.subject, send_at = row.send_at } = body
  if (row.kind !== 'reply' && send_at !== null && to.length + cc.length + bcc.length === 0) {
    throw invalid([body.send_at === undefined ? 'to' : 'send_at'], 'A scheduled draft needs a recipient')
  }
  return {
    to,
    cc,
    bcc,
    reply_to: list('reply_to', given.replyTo),
    subject,
    text,
    html,
    preview: previewOf(text),
    labels: labelsOf(changedLabels(customLabels(row.labels), body), send_at),
    send_at,
    send_status: statusAfter(row, body.send_at),
  }
}

/** Labels of which the caller decides. */
export function customLabels(labels: readonly string[]): string[] {
  return labels.filter((label) => label !== DRAFT_LABEL && label !== SCHEDULED_LABEL)
}

/** Labels after a change; one in both lists is removed. @throws ApiError 400 beyond the limit of a resource. */
export function changedLabels(
  labels: readonly string[],
  { add_labels = [], remove_labels = [] }: Pick<UpdateDraftBody, 'add_labels' | 'remove_labels'>,
): string[] {
  const changed = [...new Set([...labels, ...add_labels])].filter((label) => !remove_labels.includes(label))
  if (changed.length <= LIMITS.labels.perResource) return changed
  throw invalid(['add_labels'], `At most ${LIMITS.labels.perResource} labels on one resource`)
}

/** Bytes of a draft's texts. */
export function textBytes({ subject, text, html }: Pick<DraftContent, 'subject' | 'text' | 'html'>): number {
  return [subject, text, html].reduce((sum, words) => sum + Buffer.byteLength(words ?? ''), 0)
}

/** The kind of a new draft, which it keeps (mail 11.3). */
export function kindOf({ in_reply_to, forward_of }: CreateDraftBody): DraftKind {
  if (in_reply_to !== undefined) return 'reply'
  return forward_of === undefined ? 'new' : 'forward'
}

/** A time, given or again, schedules a draft; `null` ends that, after a failure too (mail 11.4). */
function statusAfter({ send_status }: DraftRow, sendAt: Date | null | undefined): DraftContent['send_status'] {
  if (sendAt === undefined) return send_status
  return sendAt === null ? null : 'scheduled'
}

function labelsOf(custom: readonly string[], sendAt: Date | null): string[] {
  return [DRAFT_LABEL, ...(sendAt === null ? [] : [SCHEDULED_LABEL]), ...custom]
}

function requireFew({ to, cc, bcc }: { readonly [Field in keyof Recipients]: readonly unknown[] }): void {
  if (to.length + cc.length + bcc.length > LIMITS.send.recipients) throw tooManyRecipients()
}

function previewOf(text: string | null): string | null {
  return text === null ? null : preview(text)
}

function display({ name, address }: Address): string {
  return formatAddress(name, address)
}
