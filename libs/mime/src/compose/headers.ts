import { hasControlCharacter } from '../addresses/address.ts'

/** Fields that the service writes itself; a caller's are ignored (mail 8.2). `Reply-To` yields to `replyTo`. */
const SERVICE_OWNED = new Set([
  'from',
  'sender',
  'to',
  'cc',
  'bcc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'return-path',
  'received',
  'mime-version',
  'dkim-signature',
])

const FIELD_NAME = /^[\x21-\x39\x3b-\x7e]{1,76}$/

/** Whether the service writes this field itself, so that a custom header of that name is ignored (mail 8.2). */
export function isServiceOwnedHeader(name: string): boolean {
  const key = name.toLowerCase()
  return SERVICE_OWNED.has(key) || key.startsWith('content-')
}

/**
 * What is wrong with a custom header (RFC 5322 2.2, and injection), in words for the caller; undefined when nothing is.
 */
export function headerProblem(name: string, value: string): string | undefined {
  if (!FIELD_NAME.test(name)) return 'A header name has 1 to 76 printable ASCII characters and no colon'
  if (hasControlCharacter(value)) return 'A header value cannot contain line breaks or control characters'
  return undefined
}
