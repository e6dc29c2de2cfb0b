import { createHash, randomBytes } from 'node:crypto'

const BYTES = 32
const TOKEN = /^([\w-]{43})(?:\.ics)?$/

/** The secret in the address of a feed, which cannot be guessed: 256 random bits. */
export function newToken(): string {
  return randomBytes(BYTES).toString('base64url')
}

/** What is stored of a secret. */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** The secret in the last segment of an address, which may end in `.ics`. @returns undefined for anything else. */
export function tokenIn(segment: string): string | undefined {
  return TOKEN.exec(segment)?.[1]
}
