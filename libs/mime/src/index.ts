export {
  type Address,
  type AddressesResult,
  type AddressResult,
  hasControlCharacter,
  isValidAddress,
  normalizeAddress,
  parseAddress,
  parseAddresses,
  sameAddress,
} from './addresses/address.ts'
export type { Author } from './addresses/author.ts'
export { formatAddress } from './addresses/format.ts'
export { addressIn, bareAddress, readMailboxes } from './addresses/mailboxes.ts'
export { type BounceNotice, composeBounceNotice } from './compose/bounce-notice.ts'
export {
  type ComposedMail,
  compose,
  type OutgoingAttachment,
  type OutgoingCalendar,
  type OutgoingMail,
  UnsafeMailError,
} from './compose/compose.ts'
export type { DkimKeys } from './compose/dkim.ts'
export { dispositionOf, mediaTypeOf } from './compose/file-defaults.ts'
export { headerProblem, isServiceOwnedHeader } from './compose/headers.ts'
export { withLeadingFields } from './compose/leading-fields.ts'
export { decodeTransfer, decodeTransferStream, type TransferEncoding } from './decode/transfer.ts'
export type { DmarcReport, DmarcRow } from './dmarc/aggregate-report.ts'
export { createDmarcReader, type DmarcReader } from './dmarc/reader.ts'
export { documentKind, KIND_BYTES } from './documents/kind.ts'
export type { DocumentReading } from './documents/read-document.ts'
export { createDocumentReader, type DocumentReader, type DocumentReaderOptions } from './documents/reader.ts'
export { extractReplyHtml } from './extract/html.ts'
export { preview } from './extract/preview.ts'
export { extractReply } from './extract/text.ts'
export {
  candidateIds,
  isMadeMessageId,
  makeMessageId,
  messageIdFromBytes,
  messageIdsIn,
} from './headers/message-ids.ts'
export { escapeHtml } from './html/escape.ts'
export { affordableText, htmlToText } from './html/render.ts'
export { DEFAULT_LIMITS } from './limits/default-limits.ts'
export type { ParseLimits } from './limits/limits.ts'
export { type NamedEntry, readListEntry } from './lists/entry.ts'
export { judgeAddress, judgeMentioned, type ListEntry, type Lists, type ListVerdict, listNames } from './lists/judge.ts'
export type { AttachmentInfo, Automation, MailHeader, ParsedMail } from './parse/mail.ts'
export { parse, parseHeadersOnly, readAuthor, readMail, readMentioned, readReport } from './read/read.ts'
export type { ReadMail } from './read/read-mail.ts'
export {
  attribution,
  type ForwardBodies,
  forwardBodies,
  forwardSubject,
  ORIGINAL_NAME,
  replyBodies,
  replyHtml,
  replySubject,
  replyText,
  textAsHtml,
} from './reply/quote.ts'
export {
  type ReplySource,
  replyAllRecipients,
  replyRecipients,
  threadingHeaders,
} from './reply/recipients.ts'
export {
  type BounceClass,
  type BounceSubType,
  type BounceType,
  type ComplaintClass,
  classifyBounce,
  classifyComplaint,
  enhancedStatusIn,
} from './reports/classify.ts'
export { OpenImage } from './reports/open-image.ts'
export type { DeliveryReport, FeedbackReport, RecipientStatus, Report } from './reports/report.ts'
export { reportToReturnPath } from './reports/report-to-return-path.ts'
export { ReturnPath } from './reports/return-path.ts'
export { UnsubscribeAddress } from './reports/unsubscribe-address.ts'
export { unsubscribeFields } from './reports/unsubscribe-fields.ts'
export { UnsubscribeLink } from './reports/unsubscribe-link.ts'
export { ParserCrashedError, ParserOverdueError, ParserTimeoutError, ParserUnavailableError } from './worker/errors.ts'
export { createParserPool, type ParserPool, type ParserPoolOptions } from './worker/pool.ts'
