import { createHmac, createSign, randomUUID } from 'node:crypto'
import { CompactSign, exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { PublicError } from '../../src/http/public-error.ts'
import { APPROVAL, Assertion } from '../../src/jose/assertions.ts'
import { readPublicJwk } from '../../src/jose/public-jwk.ts'
import { makeKey } from '../support/browser.ts'

const kid = randomUUID()
const HEADER = { alg: 'ES256', typ: 'agentid-approval+jwt', kid }
const CLAIMS = { jti: 'the sign-in', inbox_id: 'a@restante.test' }

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

const key = await makeKey()
const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
const { x = '', y = '' } = await exportJWK(publicKey)
const jwk = { kty: 'EC', crv: 'P-256', x, y } as const

/** Signs exactly these texts, as `CompactSign` would not. */
function signed(header: unknown, payload: unknown, dsaEncoding: 'ieee-p1363' | 'der' = 'ieee-p1363'): string {
  const input = `${encode(header)}.${encode(payload)}`
  const signature = createSign('sha256').update(input).sign({ key: pem, dsaEncoding })
  return `${input}.${signature.toString('base64url')}`
}
const pem = await exportPKCS8(privateKey)

/** The status of the refusal; 200 when there is none. */
async function statusOf(text: unknown, by: typeof jwk | null = jwk): Promise<number> {
  try {
    await new Assertion(text, APPROVAL).verify(by ?? undefined)
    return 200
  } catch (error) {
    if (error instanceof PublicError) return error.status
    throw error
  }
}

describe('an assertion', () => {
  it('proves its claims by the key that it names', async () => {
    const assertion = new Assertion(signed(HEADER, CLAIMS), APPROVAL)
    expect(assertion.kid).toBe(kid)
    expect(await assertion.verify(jwk)).toEqual(CLAIMS)
    expect(await statusOf(signed(HEADER, CLAIMS), key.jwk)).toBe(401)
  })

  it('is malformed unless it is three segments of canonical base64url within its size', async () => {
    const good = signed(HEADER, CLAIMS)
    const [header = '', payload = '', signature = ''] = good.split('.')
    // The last character of 64 bytes has four unused bits.
    const alias = `${signature.slice(0, -1)}${String.fromCharCode(signature.charCodeAt(85) + 1)}`
    const texts = [
      undefined,
      {},
      '',
      `${header}.${payload}`,
      `${good}.${signature}`,
      `${header}.${payload}.`,
      `${good}=`,
      `${good} `,
      `${header}.${payload}.${alias}`,
      `${header}.${payload}.${signature.replace(/.$/, '+')}`,
      signed(HEADER, { ...CLAIMS, jti: 'x'.repeat(2_048) }),
    ]
    for (const text of texts) expect([text, await statusOf(text)]).toEqual([text, 400])
  })

  it('is refused with any other header, before a key is looked for', async () => {
    const { alg, typ } = HEADER
    const embedded = { ...jwk }
    const headers = [
      { ...HEADER, alg: 'none' },
      { ...HEADER, alg: 'HS256' },
      { ...HEADER, alg: 'ES384' },
      { ...HEADER, alg: 'es256' },
      { ...HEADER, typ: 'signin+jwt' },
      { ...HEADER, typ: 'JWT' },
      { alg, typ },
      { alg, kid },
      { ...HEADER, kid: '../keys/1' },
      { ...HEADER, kid: 1 },
      { ...HEADER, crit: ['exp'] },
      { ...HEADER, jku: 'https://attacker.example/jwks.json' },
      { ...HEADER, jwk: embedded },
      { ...HEADER, x5c: ['AA=='] },
      { ...HEADER, x5u: 'https://attacker.example/' },
      { ...HEADER, b64: false },
      `{"alg":"ES256","typ":"${typ}","kid":"${kid}","kid":"${randomUUID()}"}`,
      `{"alg":"none","\\u0061lg":"ES256","typ":"${typ}","kid":"${kid}"}`,
      `[${JSON.stringify(HEADER)}]`,
      `${JSON.stringify(HEADER)}x`,
      'null',
    ]
    for (const header of headers) expect([header, await statusOf(signed(header, CLAIMS))]).toEqual([header, 401])
  })

  it('is refused with a signature that is none of this key', async () => {
    const [header = '', payload = '', signature = ''] = signed(HEADER, CLAIMS).split('.')
    const other = await generateKeyPair('ES384')
    const foreign = await new CompactSign(Buffer.from('{}')).setProtectedHeader({ alg: 'ES384' }).sign(other.privateKey)
    const bytes = Buffer.from(signature, 'base64url')
    const hmac = createHmac('sha256', JSON.stringify(jwk)).update(`${header}.${payload}`).digest('base64url')
    const zeros = Buffer.alloc(64).toString('base64url')
    const signatures = [
      hmac,
      zeros,
      bytes.subarray(0, 63).toString('base64url'),
      Buffer.concat([bytes, Buffer.from([0])]).toString('base64url'),
      foreign.split('.')[2] ?? '',
    ]
    for (const each of signatures) expect([each, await statusOf(`${header}.${payload}.${each}`)]).toEqual([each, 401])
    expect(await statusOf(signed(HEADER, CLAIMS, 'der'))).toBe(401)
    expect(await statusOf(`${header}.${encode({ ...CLAIMS, jti: 'another' })}.${signature}`)).toBe(401)
    expect(await statusOf(`${encode(JSON.stringify(HEADER, null, 1))}.${payload}.${signature}`)).toBe(401)
    expect(await statusOf(signed(HEADER, CLAIMS), null)).toBe(401)
  })

  it('is malformed with other claims than its own, after the signature was verified', async () => {
    const { jti, inbox_id } = CLAIMS
    const payloads = [
      { jti },
      { ...CLAIMS, iat: 1 },
      { ...CLAIMS, exp: '9999999999' },
      { ...CLAIMS, aud: 'x' },
      { jti: 1, inbox_id },
      { jti: null, inbox_id },
      { jti: [jti], inbox_id },
      `{"jti":"a","jti":"b","inbox_id":"${inbox_id}"}`,
      `{"jti":"a","\\u006ati":"b","inbox_id":"${inbox_id}"}`,
      Buffer.from([0x7b, 0xff, 0x7d]).toString('latin1'),
      '"text"',
      'not JSON',
    ]
    for (const payload of payloads) {
      expect([payload, await statusOf(signed(HEADER, payload))]).toEqual([payload, 400])
      expect(await statusOf(signed(HEADER, payload), key.jwk)).toBe(401)
    }
  })
})

describe('a public key of a browser', () => {
  it('is exactly a point of P-256', async () => {
    expect(readPublicJwk(jwk)).toEqual(jwk)
    const wrong = [
      null,
      'text',
      { ...jwk, d: x },
      { ...jwk, kid },
      { ...jwk, crv: 'P-384' },
      { ...jwk, kty: 'RSA' },
      { ...jwk, x: `${x}=` },
      { ...jwk, x: x.slice(0, -1) },
      { ...jwk, x: 'A'.repeat(43) },
      { ...jwk, x: y, y: x },
      { kty: 'EC', crv: 'P-256', x },
    ]
    for (const given of wrong) expect([given, readPublicJwk(given)]).toEqual([given, undefined])
  })
})
