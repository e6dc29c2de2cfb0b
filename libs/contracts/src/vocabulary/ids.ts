import { z } from 'zod'

declare const kind: unique symbol
/** A string that was checked to be of one kind; usable wherever a string is. */
export type Branded<Kind extends string> = string & { readonly [kind]: Kind }

/** Immutable identity of an inbox, used in rows, Kafka keys, jobs, tokens and blob names. */
export type InboxUid = Branded<'inbox_uid'>
/** The address of an inbox, lower case: `inbox_id` on the wire, put in at the edge only. */
export type InboxAddress = Branded<'inbox_address'>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a path value can be a UUID at all; anything else needs no look-up to be unknown (identity 1.1). */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** @throws TypeError when the text is not a UUID, which is a defect of the caller. */
export function inboxUid(text: string): InboxUid {
  if (!isInboxUid(text)) throw new TypeError('an inbox uid is a UUID')
  return text
}

/** The address in its stored and compared form. @throws TypeError when it has no `@`. */
export function inboxAddress(text: string): InboxAddress {
  const folded = text.toLowerCase()
  if (!isInboxAddress(folded)) throw new TypeError('an inbox address holds an @')
  return folded
}

function isInboxUid(text: string): text is InboxUid {
  return isUuid(text)
}

function isInboxAddress(text: string): text is InboxAddress {
  return text.indexOf('@') > 0
}

/**
 * Caller-chosen alias of a resource (identity 1.1); it never contains `@` or `/`, so it cannot be taken for an inbox
 * id.
 */
export const CLIENT_ID = /^[A-Za-z0-9\-._~]{1,256}$/
/**
 * Values of the `Idempotency-Key` header: on the send family (identity 1.8), where a sign-in begins (apps 2), and where a
 * calendar event is deleted (calendar 13.3).
 */
export const IDEMPOTENCY_KEYS = {
  send: {
    pattern: /^[A-Za-z0-9\-._~]{1,256}$/,
    form: '1 to 256 characters of A-Z a-z 0-9 - . _ ~',
    kept: 'for 24 hours',
  },
  connect: { pattern: /^[!-~]{1,128}$/, form: '1 to 128 visible ASCII characters', kept: 'while its link works' },
  calendar: { pattern: /^[!-~]{1,128}$/, form: '1 to 128 visible ASCII characters', kept: 'for 24 hours' },
} as const
export type IdempotencyKeyRule = keyof typeof IDEMPOTENCY_KEYS
/** Local part of an inbox address (identity 8.2): no dot at either end or doubled; `+` is left to plus addressing. */
export const USERNAME = /^(?!\.)(?!.*\.\.)[a-z0-9._-]{1,64}(?<!\.)$/
/** `ep_` and 27 base62 characters (events 7.2). */
export const WEBHOOK_ID = /^ep_[0-9A-Za-z]{27}$/
/** Also `svix-id`: the same on every attempt. */
export const WEBHOOK_DELIVERY_ID = /^msg_[0-9A-Za-z]{27}$/
/** An issued secret: region and 256 bits (identity 1.1). Look-up accepts any text that starts with `am_`. */
export const API_KEY_SECRET = /^am_(us|eu)_[0-9a-f]{64}$/
/** Start of every API key. */
export const API_KEY_START = 'am_'
/** Characters of a secret that are shown again as `prefix`. */
export const API_KEY_PREFIX_LENGTH = 14
/** Three dot-separated base64url parts: a session token, which is no API key (identity 1.6). */
export const JWT_SHAPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
/** Secret of a webhook: `whsec_` and the base64 of 24 bytes (events 7.2). */
export const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/]{32}$/
/** Six digits, as mailed to an agent's human (identity 5.2). */
export const OTP_CODE = /^[0-9]{6}$/
/** A request id that a client may choose itself: visible ASCII (identity 1.2). */
export const REQUEST_ID = /^[!-~]{1,128}$/

/**
 * Reserved local parts (identity 8.2). On shared domains: the mailboxes of RFC 2142 and of the installation
 * itself, those at which certificate authorities prove control of a domain (CA/B baseline requirements 3.2.2.4.4), and
 * hosts that mail programs look for. Installations may add and free names there.
 */
export const RESERVED_USERNAMES = {
  sharedDomain: [
    ...['postmaster', 'abuse', 'mailer-daemon', 'dmarc', 'tls-rpt', 'root', 'security', 'noc', 'no-reply', 'noreply'],
    ...['admin', 'administrator', 'hostmaster', 'webmaster', 'ssladmin', 'ssl-admin', 'sslwebmaster', 'sysadmin'],
    ...['is', 'it', 'mis', 'info-sec', 'autoconfig', 'autodiscover', 'mta-sts'],
  ],
  ownDomain: ['mailer-daemon', 'dmarc'],
} as const

export const organizationId = z.guid().meta({ description: 'Organization' })
export const podId = z.guid().meta({ description: "Pod; the default pod's id equals the organization's" })
export const inboxId = z
  .string()
  .meta({ description: 'Address of the inbox, lower case', examples: ['desk@example.com'] })
export const threadId = z.guid({ error: 'Invalid UUID' }).meta({ description: 'Thread' })
export const messageId = z
  .string()
  .meta({ description: 'RFC 5322 Message-ID with its angle brackets', examples: ['<01f0@example.com>'] })
export const draftId = z.guid().meta({ description: 'Draft' })
export const attachmentId = z.guid().meta({ description: 'Attachment' })
export const apiKeyId = z.guid().meta({ description: 'API key; says nothing about the secret' })
export const domainId = z.string().meta({
  description: 'Name of a domain: lower case, in A-labels, without a dot at its end',
  examples: ['example.com'],
})
export const webhookDeliveryId = z
  .string()
  .regex(WEBHOOK_DELIVERY_ID)
  .meta({ description: 'Delivery of an event to a webhook; `svix-id`' })
export const webhookId = z.string().regex(WEBHOOK_ID).meta({ description: 'Webhook' })
