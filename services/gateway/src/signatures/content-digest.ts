import { createHash } from 'node:crypto'
import { isInnerList, parseDictionary } from 'structured-headers'

/** The active algorithms of RFC 9530, by the names that the header and Node give them. */
const ALGORITHMS = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const

/**
 * Whether a `Content-Digest` header (RFC 9530) is of this body: every algorithm that is known here must agree, and there
 * must be one. Others are somebody else's.
 */
export function isDigestOf(header: string, body: Buffer): boolean {
  const given = digestsIn(header)
  const known = Object.entries(ALGORITHMS).filter(([name]) => given.has(name))
  return (
    known.length > 0 && known.every(([name, hash]) => given.get(name)?.equals(createHash(hash).update(body).digest()))
  )
}

/** The byte sequences of the dictionary; none of a header that is no dictionary. */
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
