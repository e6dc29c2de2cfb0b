import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createSignature } from 'http-message-sig'
import { type Answer, Api, answerIn } from './api.ts'

/** A registered public key, and requests that are signed with it. */
export interface SignedApi {
  readonly keyId: string
  /** @param document a string is sent unchanged. */
  request(method: string, path: string, document?: unknown): Promise<Answer>
  /** The headers of a signed request without a body. */
  headers(method: string, path: string): Promise<Readonly<Record<string, string>>>
}

/**
 * Creates a key pair and registers its public key with a bearer key. @param body further members of the registration.
 */
export async function registerKey(
  gatewayUrl: string,
  bearer: string,
  body: object,
  path = '/v0/api-keys',
): Promise<SignedApi> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' })
  const registered = await new Api(gatewayUrl, bearer).post(path, { public_key: { kty, crv, x, y }, ...body })
  if (registered.status !== 200) throw new Error(`the key was not registered: ${JSON.stringify(registered.body)}`)
  const keyId = String(registered.body['api_key_id'])
  const signer = {
    algorithm: 'ecdsa-p256-sha256',
    sign: (text: Uint8Array) => sign('sha256', text, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
  }
  const signed = async (method: string, target: string, text?: string): Promise<Request> => {
    const request = new Request(`${gatewayUrl}${target}`, { method, ...(text && { body: text }) })
    if (text) request.headers.set('content-digest', `sha-256=:${createHash('sha256').update(text).digest('base64')}:`)
    const { signature, signatureInput } = await createSignature(request, {
      label: 'sig1',
      components: ['@method', '@target-uri', ...(text ? ['content-digest'] : [])],
      parameters: {
        created: Math.floor(Date.now() / 1000),
        keyid: keyId,
        nonce: randomBytes(16).toString('base64url'),
      },
      signer,
    })
    request.headers.set('signature', signature)
    request.headers.set('signature-input', signatureInput)
    return request
  }
  return {
    keyId,
    async request(method, target, document) {
      const text = document === undefined || typeof document === 'string' ? document : JSON.stringify(document)
      return answerIn(await fetch(await signed(method, target, text)))
    },
    headers: async (method, target) => Object.fromEntries((await signed(method, target)).headers),
  }
}
