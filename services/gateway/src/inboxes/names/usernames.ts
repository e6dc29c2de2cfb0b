import { randomInt } from 'node:crypto'
import { RESERVED_USERNAMES } from '@restante/contracts/vocabulary'
import { ADJECTIVES, NOUNS } from './words.ts'

/** The settings that decide which local parts of shared domains are reserved. */
export interface ReservedNames {
  /** In addition to the default ones. */
  readonly more: readonly string[]
  /** Available, although they are reserved by default. */
  readonly freed: readonly string[]
  /** Local part of the installation's own sender: always reserved. */
  readonly systemSender: string
}

/** The reserved local parts of domains that every organization may use, folded (identity 8.2). Pure. */
export function reservedUsernames({ more, freed, systemSender }: ReservedNames): ReadonlySet<string> {
  const free = new Set(freed.map(foldUsername))
  const kept = [...RESERVED_USERNAMES.sharedDomain, ...more].map(foldUsername).filter((name) => !free.has(name))
  return new Set([...kept, foldUsername(systemSender)])
}

/** The reserved local parts of domains that an organization registered, folded. */
export const RESERVED_ON_OWN_DOMAINS: ReadonlySet<string> = new Set(RESERVED_USERNAMES.ownDomain.map(foldUsername))

/** Whether a username is reserved, with or without dots, dashes and underscores. */
export function isReserved(username: string, reserved: ReadonlySet<string>): boolean {
  return reserved.has(foldUsername(username))
}

/** Readers confuse `no-reply` with `no.reply` and `noreply` as easily as `Admin` with `admin`. */
function foldUsername(username: string): string {
  return username.toLowerCase().replace(/[._-]/g, '')
}

/**
 * Generates a username such as `quietharbor482` (identity 8.3).
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
