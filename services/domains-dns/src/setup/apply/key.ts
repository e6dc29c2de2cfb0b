import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

/** Of base64 in one TXT record: with what stands before it, it fits into one string of 255 octets. */
const CHUNK = 230
const LEAST_BITS = 2_048

/** The key that signs the URLs of setup links. Its public half is published in DNS, where providers look for it. */
export class SetupKey {
  readonly #key: KeyObject

  /** @param pem private key, RSA of at least 2048 bits. @throws Error when it is another. */
  constructor(pem: string) {
    this.#key = createPrivateKey(pem)
    const bits = this.#key.asymmetricKeyDetails?.modulusLength ?? 0
    if (this.#key.asymmetricKeyType !== 'rsa' || bits < LEAST_BITS)
      throw new Error(`the key of setup links must be RSA of at least ${LEAST_BITS} bits`)
  }

  /** Signature (RS256) in base64. @param query exactly as it is sent. */
  sign(query: string): string {
    return sign('sha256', Buffer.from(query), this.#key).toString('base64')
  }

  /** The texts of the TXT records that publish the key, each of which fits into one string. */
  published(): string[] {
    const spki = createPublicKey(this.#key).export({ type: 'spki', format: 'der' }).toString('base64')
    const chunks = spki.match(new RegExp(`.{1,${CHUNK}}`, 'g')) ?? []
    return chunks.map((chunk, index) => `p=${index + 1},a=RS256,d=${chunk}`)
  }
}
