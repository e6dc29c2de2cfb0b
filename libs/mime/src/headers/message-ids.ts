import { createHash, randomUUID } from 'node:crypto'

/**
 * An id longer than a header line (RFC 5322 2.1.1), which begins with a blank, is ignored: it could be neither sent back
 * nor indexed.
 */
const MAX_ID = 997

/** A new Message-ID with angle brackets, unique by its UUID (mail 2). */
export function makeMessageId(domain: string): string {
  return `<${randomUUID()}@${domain}>`
}

const MADE_ID = /^<[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}@(.+)>$/i

/**
 * Whether an id has the form that `makeMessageId` produces for a domain: no other id names a message of this
 * installation.
 */
export function isMadeMessageId(id: string, domain: string): boolean {
  return MADE_ID.exec(id)?.[1]?.toLowerCase() === domain.toLowerCase()
}

/**
 * The Message-ID of a mail that has none: derived from its raw bytes, so that a repeated copy gets the same one (mail
 * 2). The domain is reserved (RFC 2606), so no sender can own such an id.
 */
export function messageIdFromBytes(raw: Uint8Array): string {
  return `<${createHash('sha256').update(raw).digest('hex')}@sha256.invalid>`
}

/**
 * The Message-IDs of a Message-ID, In-Reply-To or References header, with brackets, in the order written. Ids without
 * brackets are accepted where the header has nothing else; comments and phrases are skipped.
 */
export function messageIdsIn(value: string): string[] {
  const found = value.match(/<[^<>]+>/g) ?? bareIdsIn(value).map((id) => `<${id}>`)
  return found.map((id) => `<${id.slice(1, -1).trim()}>`).filter((id) => id !== '<>' && Buffer.byteLength(id) <= MAX_ID)
}

/** A single word, or words that are all of the form of an id. */
function bareIdsIn(value: string): string[] {
  const words = value.split(/[\s,]+/).filter((word) => word !== '')
  const isId = (word: string) => /^[^<>@"]+@[^<>@"]+$/.test(word)
  return words.every(isId) || (words.length === 1 && !/[<>]/.test(value)) ? words : []
}

/**
 * The ids under which the thread of a mail is looked for, best first: those of `In-Reply-To`, then `References` from last to
 * first (mail 13.1).
 */
export function candidateIds(answeredIds: readonly string[], references: readonly string[]): string[] {
  return [...new Set([...answeredIds, ...references.toReversed()])]
}
