import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DnsZone } from '@restante/testkit'
import { dkimSign } from 'mailauth'
import { judgeBy } from './judge-mail.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const KEY = publicKey.toString('base64')
const txt = (data: string) => ({ type: 'TXT' as const, data })

let zone: DnsZone

beforeAll(async () => {
  zone = await new DnsZone().start()
})
afterAll(() => zone.stop())

async function dkimOf(raw: Buffer): Promise<string> {
  return (await judgeBy(zone, { raw })).authentication.dkim
}

/** A mail of signed.test with a signature of this selector. */
async function signed(selector: string, algorithm = 'rsa-sha256'): Promise<Buffer> {
  const mail = 'From: Ann <ann@signed.test>\r\nTo: bo@x.test\r\nSubject: Hi\r\n\r\nHello\r\n'
  const by = { signingDomain: 'signed.test', selector, privateKey, algorithm }
  const { signatures, errors } = await dkimSign(mail, {
    ...by,
    canonicalization: 'relaxed/simple',
    signatureData: [by],
  })
  expect(errors).toEqual([])
  return Buffer.from(signatures + mail)
}

describe('the example of RFC 8463, A.3', () => {
  const raw = readFileSync(new URL('./rfc8463.eml', import.meta.url), 'latin1')
  beforeAll(() => {
    zone
      .set(
        'brisbane._domainkey.football.example.com',
        txt('v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='),
      )
      .set(
        'test._domainkey.football.example.com',
        txt(
          'v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB',
        ),
      )
  })

  it('passes by its signature of Ed25519 and by that of RSA', async () => {
    const { verdict, trace } = await judgeBy(zone, { raw: Buffer.from(raw, 'latin1') })
    expect(verdict).toBe('pass')
    expect(trace.match(/dkim=\w+|header\.a=\S+/g)).toEqual([
      'dkim=pass',
      'header.a=ed25519-sha256',
      'dkim=pass',
      'header.a=rsa-sha256',
    ])
  })

  it.each<[string, (mail: string) => string]>([
    ['its body', (mail) => mail.replace('hungry', 'angry')],
    ['its Subject', (mail) => mail.replace('dinner', 'supper')],
    ['its author', (mail) => mail.replace('From: Joe SixPack <joe@', 'From: Jim <jim@')],
    ['a second author above', (mail) => `From: Jim <jim@football.example.com>\r\n${mail}`],
  ])('does not pass with another text in %s', async (_, change) => {
    expect((await judgeBy(zone, { raw: Buffer.from(change(raw), 'latin1') })).verdict).toBe('none')
  })
})

describe('a signature', () => {
  it('passes by a key of 2,048 bits, whose record has two strings', async () => {
    zone.set('whole._domainkey.signed.test', txt(`v=DKIM1; k=rsa; p=${KEY}`))
    expect(await dkimOf(await signed('whole'))).toBe('pass')
  })

  it('verifies nothing with SHA-1 (RFC 8301)', async () => {
    zone.set('old._domainkey.signed.test', txt(`v=DKIM1; k=rsa; p=${KEY}`))
    expect(await dkimOf(await signed('old', 'rsa-sha1'))).toBe('policy')
  })

  it.each([
    ['revoked', 'v=DKIM1; k=rsa; p='],
    ['of another version', `v=DKIM2; k=rsa; p=${KEY}`],
    ['of another algorithm', `v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=`],
    ['for another service', `v=DKIM1; s=chat; k=rsa; p=${KEY}`],
    ['for another hash', `v=DKIM1; h=sha1; k=rsa; p=${KEY}`],
    ['of nothing', `v=DKIM1; k=rsa; p=AAAA`],
    ['without a key', 'v=DKIM1; k=rsa'],
  ])('does not pass by a key that is %s', async (what, record) => {
    const selector = what.replaceAll(' ', '-')
    zone.set(`${selector}._domainkey.signed.test`, txt(record))
    expect(['neutral', 'permerror', 'fail']).toContain(await dkimOf(await signed(selector)))
  })
})
