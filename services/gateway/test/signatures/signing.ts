import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { type PublicJwk, publicJwk } from '@restante/contracts/schemas'
import { type Dispatcher, request } from 'undici'
import { type Answer, type Api, PUBLIC_URL } from '../gateway.ts'

/** A key pair whose public half can be registered. */
export interface TestKey {
  readonly jwk: PublicJwk
  readonly privateKey: KeyObject
}

/** The generator of P-256: a key whose private half is 1. */
export const GENERATOR: PublicJwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY',
  y: 'T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU',
}

export function newKey(): TestKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { jwk: publicJwk.parse(publicKey.export({ format: 'jwk' })), privateKey }
}

/** One request, signed by hand as RFC 9421 says, so that each part of it can be wrong by itself. */
export interface SignedRequest {
  readonly keyId: string
  readonly privateKey: KeyObject
  readonly method: Dispatcher.HttpMethod
  readonly path: string
  /** What the client believes the API's address to be. */
  readonly base?: string
  readonly body?: string
  readonly label?: string
  readonly components?: readonly string[]
  /** Replaces members of the parameters; undefined leaves one out. */
  readonly parameters?: Readonly<Record<string, string | number | undefined>>
  /** Besides those of the signature. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Who signs: a registered key, by its id. */
export type Signer = Pick<SignedRequest, 'keyId' | 'privateKey'>
/** What is asked, by a signer that is known already or by another one. */
export type Asked = Omit<SignedRequest, keyof Signer> & Partial<Signer>

/** Registers a new key. @param body what else the registration says. */
export async function registerKey(api: Api, body: object = {}, path = '/v0/api-keys'): Promise<Signer> {
  const { jwk, privateKey } = newKey()
  const answer = await api.post(path, { public_key: jwk, ...body })
  if (answer.status !== 200) throw new Error(`the key was not registered: ${JSON.stringify(answer.body)}`)
  return { keyId: String(answer.body['api_key_id']), privateKey }
}

/** Signs a request and sends it. */
export function askSigned(url: string, given: SignedRequest): Promise<Pick<Answer, 'status' | 'body'>> {
  return send(url, given, signedHeaders(given))
}

export type SignedHeaders = Record<string, string>

export function sha256Digest(body: string): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
}

/** The headers that a signed request is sent with. */
export function signedHeaders(given: SignedRequest): SignedHeaders {
  const { body, label = 'sig1', base = PUBLIC_URL } = given
  const digest: SignedHeaders = body === undefined ? {} : { 'content-digest': sha256Digest(body) }
  const headers: SignedHeaders = { ...digest, ...given.headers }
  const components = given.components ?? ['@method', '@target-uri', ...Object.keys(digest)]
  const input = `(${components.map((name) => `"${name}"`).join(' ')})${parametersOf(given)}`
  const derived: Record<string, string> = { '@method': given.method, '@target-uri': `${base}${given.path}` }
  const lines = components.map((name) => `"${name}": ${derived[name] ?? headers[name] ?? ''}`)
  const text = [...lines, `"@signature-params": ${input}`].join('\n')
  const signature = sign('sha256', Buffer.from(text), { key: given.privateKey, dsaEncoding: 'ieee-p1363' })
  return {
    ...headers,
    'signature-input': `${label}=${input}`,
    signature: `${label}=:${signature.toString('base64')}:`,
  }
}

function parametersOf({ keyId, parameters }: SignedRequest): string {
  const all: Record<string, string | number | undefined> = {
    created: Math.floor(Date.now() / 1000),
    keyid: keyId,
    nonce: randomBytes(16).toString('base64url'),
    ...parameters,
  }
  return Object.entries(all)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `;${name}=${typeof value === 'number' ? value : `"${value}"`}`)
    .join('')
}

/** Sends what was signed, or something else than what was signed. */
export async function send(
  url: string,
  { method, path, body }: Pick<SignedRequest, 'method' | 'path' | 'body'>,
  headers: SignedHeaders,
): Promise<Pick<Answer, 'status' | 'body'>> {
  const answer = await request(`${url}${path}`, { method, headers, body: body ?? null })
  const text = await answer.body.text()
  return { status: answer.statusCode, body: text === '' ? {} : JSON.parse(text) }
}
