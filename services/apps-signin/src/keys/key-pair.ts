import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, exportJWK } from 'jose'

const generate = promisify(generateKeyPair)

/** A public key as the JWKS has it (RFC 7517). */
export interface PublicSigningKey {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
  readonly use: 'sig'
  readonly alg: 'ES256'
  /** RFC 7638 thumbprint. */
  readonly kid: string
}

/** Makes a P-256 pair. `privateKey` is PKCS #8 in PEM. */
export async function newKeyPair(): Promise<{ kid: string; publicKey: PublicSigningKey; privateKey: string }> {
  const pair = await generate('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = await exportJWK(pair.publicKey)
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
  const kid = await calculateJwkThumbprint(jwk)
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { kid, publicKey: { ...jwk, use: 'sig', alg: 'ES256', kid }, privateKey }
}
