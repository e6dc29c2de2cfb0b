import type { ReplyBody } from '@restante/contracts/operations'
import type { FieldError } from '@restante/contracts/vocabulary'
import {
  type Address,
  bareAddress,
  normalizeAddress,
  parseAddress,
  parseAddresses,
  type ReplySource,
  replyAllRecipients,
  replyRecipients,
} from '@restante/mime'
import { ApiError } from '@restante/service/errors'
import { noAuthor } from './refusals.ts'

/** Parsed addresses of the caller; absent where the caller gave none. */
export interface GivenAddresses {
  readonly to: readonly Address[]
  readonly cc: readonly Address[]
  readonly bcc: readonly Address[]
  readonly replyTo: readonly Address[]
}

export interface Recipients {
  readonly to: readonly Address[]
  readonly cc: readonly Address[]
  readonly bcc: readonly Address[]
}

type AddressFields = Readonly<Record<'to' | 'cc' | 'bcc' | 'reply_to', readonly string[] | null | undefined>>

/**
 * Parses the addresses of a body.
 * @throws ApiError 400 that names every wrong one by field and index.
 */
export function readAddresses(body: Partial<AddressFields>): GivenAddresses {
  const errors: FieldError[] = []
  const read = (field: keyof AddressFields): readonly Address[] => {
    const result = parseAddresses(body[field] ?? [])
    if (result.ok) return result.addresses
    errors.push(...result.errors.map(({ index, message }) => ({ path: [field, index], message })))
    return []
  }
  const given = { to: read('to'), cc: read('cc'), bcc: read('bcc'), replyTo: read('reply_to') }
  if (errors.length > 0) throw new ApiError('validation_error', { errors })
  return given
}

/** An answer, as far as its recipients depend on it. */
export type Answer =
  | { readonly kind: 'reply'; readonly body: Pick<ReplyBody, 'reply_all'> }
  | { readonly kind: 'reply_all'; readonly body: object }

/**
 * The recipients of an answer (mail 8.3).
 * @throws ApiError 422 when it depends on the author of a mail that does not name exactly one, and gives no Reply-To
 * (mail 13).
 */
export function answerRecipients(
  answer: Answer,
  given: GivenAddresses,
  source: ReplySource,
  ownAddress: string,
): Recipients {
  const isDerived = isToAll(answer) || given.to.length === 0
  if (isDerived && !source.sentByInbox && source.author === undefined && source.replyTo.length === 0) throw noAuthor()
  return derivedRecipients(answer, given, source, ownAddress)
}

/** The same for a draft, which may have none yet. */
export function derivedRecipients(
  answer: Answer,
  { to, cc, bcc }: GivenAddresses,
  source: ReplySource,
  ownAddress: string,
): Recipients {
  if (isToAll(answer)) {
    const all = replyAllRecipients(source, ownAddress)
    return { to: readable(all.to), cc: readable(all.cc), bcc: [] }
  }
  return { to: to.length > 0 ? to : readable(replyRecipients(source)), cc, bcc }
}

function isToAll(answer: Answer): boolean {
  return answer.kind === 'reply_all' || answer.body.reply_all === true
}

/** All recipients of the message, each address once. */
export function uniqueAddresses({ to, cc, bcc }: Recipients): Map<string, Address> {
  const unique = new Map<string, Address>()
  for (const address of [...to, ...cc, ...bcc]) {
    const key = normalizeAddress(address.address)
    if (!unique.has(key)) unique.set(key, address)
  }
  return unique
}

/**
 * The addresses of a received mail that can be mailed; senders may write anything there. A name that cannot be parsed
 * (`Ann "The Desk" Ray`, a comment) is dropped rather than the recipient.
 */
function readable(displays: readonly string[]): Address[] {
  return displays.flatMap((display) => {
    const [readable] = [display, bareAddress(display)].map(parseAddress).filter((result) => result.ok)
    return readable ? [readable.address] : []
  })
}
