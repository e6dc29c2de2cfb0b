import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const BYTES = 32
const SECRET = /^[\w-]{43}$/

/** A code or an access token: 32 random bytes in base64url. Only its hash is stored. */
export function newSecret(): string {
  return randomBytes(BYTES).toString('base64url')
}

/** Whether a text can be a code or an access token at all. */
export function isSecret(text: string): boolean {
  return SECRET.test(text)
}

export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Whether a verifier is that of an S256 challenge (RFC 7636 4.6), in constant time. */
export function provesChallenge(verifier: string, challenge: string): boolean {
  const given = Buffer.from(hashOf(verifier).toString('base64url'))
  const wanted = Buffer.from(challenge)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
