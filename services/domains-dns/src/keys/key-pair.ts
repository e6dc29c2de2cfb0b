import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'

const generate = promisify(generateKeyPair)

/** Bits of a key: what every receiver verifies (RFC 8301 3.2), and still fits into one DNS answer. */
const BITS = 2048

/** A pair that signs for a domain. */
export interface KeyPair {
  /** SPKI in base64, as it is published. */
  readonly publicKey: string
  /** PKCS #8 in PEM. */
  readonly privateKey: string
}

/** Makes a pair, in about 100 ms of another thread. */
export async function newKeyPair(): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate('rsa', {
    modulusLength: BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { publicKey: publicKey.toString('base64'), privateKey }
}
