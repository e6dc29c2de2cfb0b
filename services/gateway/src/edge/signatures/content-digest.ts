import { createHash } from 'node:crypto'
import { isInnerList, parseDictionary } from 'structured-headers'

/** The active algorithms of RFC 9530, by their names in the header and in Node. */
const ALGORITHMS = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const

/**
 * Whether a `Content-Digest` header (RFC 9530) matches this body: every known algorithm must match, and there must be
 * one. Unknown ones are ignored.
 */
export function isDigestOf(header: string, body: Buffer): boolean {
  const given = digestsIn(header)
  const known = Object.entries(ALGORITHMS).filter(([name]) => given.has(name))
  return (
    known.length > 0 && known.every(([name, hash]) => given.get(name)?.equals(createHash(hash).update(body).digest()))
  )
}

/** The byte sequences of the dictionary; empty for a header that is not a dictionary. */
function digestsIn(header: string): ReadonlyMap<string, Buffer> {
  const digests = new Map<string, Buffer>()
  try {
    for (const [name, member] of parseDictionary(header)) {
      if (isInnerList(member) || !(member[0] instanceof ArrayBuffer)) return new Map()
      digests.set(name, Buffer.from(member[0]))
    }
  } catch {
    return new Map()
  }
  return digests
}
