import { createHash } from 'node:crypto'

/** A UUID that follows from a text (version 8, RFC 9562 5.8), so that work that is repeated finds its first row. */
export function hashedUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
