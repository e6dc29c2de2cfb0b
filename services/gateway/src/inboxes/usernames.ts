import { randomInt } from 'node:crypto'
import { RESERVED_USERNAMES } from '@restante/contracts'
import { ADJECTIVES, NOUNS } from './words.ts'

/** Local parts that nobody can take on a domain that every organization may use (identity 8.2, RFC 2142). */
const RESERVED: ReadonlySet<string> = new Set(RESERVED_USERNAMES.sharedDomain)

export function isReserved(username: string, alsoReserved: ReadonlySet<string>): boolean {
  return RESERVED.has(username) || alsoReserved.has(username)
}

/**
 * A username such as `quietharbor482` (identity 8.3).
 * @param attempt how many were taken already; each one adds a digit, so that a crowded domain still yields a free name.
 */
export function generateUsername(attempt: number): string {
  const digits = 3 + Math.min(attempt, 9)
  const number = randomInt(10 ** (digits - 1), 10 ** digits)
  return `${pick(ADJECTIVES)}${pick(NOUNS)}${number}`
}

function pick(words: readonly string[]): string {
  return words[randomInt(words.length)] ?? ''
}
