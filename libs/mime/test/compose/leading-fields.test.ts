import { generateKeyPairSync } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { compose, type DkimKeys, withLeadingFields } from '../../src/index.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed25519 = generateKeyPairSync('ed25519')
const ED25519_PREFIX = 12
const RECORDS: Readonly<Record<string, string>> = {
  's1._domainkey.example.test': `v=DKIM1; k=rsa; p=${der(rsa.publicKey).toString('base64')}`,
  's2._domainkey.example.test': `v=DKIM1; k=ed25519; p=${der(ed25519.publicKey).subarray(ED25519_PREFIX).toString('base64')}`,
}
const both: DkimKeys = {
  domain: 'example.test',
  keys: [
    { selector: 's1', privateKey: rsa.privateKey },
    { selector: 's2', privateKey: ed25519.privateKey },
  ],
}
const one: DkimKeys = { domain: 'example.test', keys: both.keys.slice(0, 1) }
const FIELDS =
  'List-Unsubscribe: <https://a.test/u/x>,\r\n <mailto:u+x@b.test>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n'

function der(key: typeof rsa.publicKey): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

async function composed(dkim: DkimKeys | undefined, headers: Record<string, string> = {}): Promise<Buffer> {
  const { raw } = await compose({
    from: { address: 'desk@example.test' },
    to: [{ address: 'jürgen@outside.test' }],
    subject: 'Grüße',
    text: 'Hello\n\n\n',
    html: '<p>Hello</p>',
    attachments: [{ content: Buffer.alloc(200_000, 'a'), filename: 'a.bin' }],
    headers,
    messageId: '<1@example.test>',
    date: new Date(0),
    ...(dkim && { dkim }),
  })
  return raw
}

/** @param size of the pieces in which the mail is read. */
async function led(raw: Buffer, dkim: DkimKeys | undefined, size = 1_000): Promise<Buffer> {
  const pieces = Array.from({ length: Math.ceil(raw.length / size) }, (_, at) =>
    raw.subarray(at * size, (at + 1) * size),
  )
  const { content, difference } = await withLeadingFields(Readable.from(pieces), FIELDS, dkim)
  const bytes = await buffer(content)
  expect(difference).toBe(bytes.length - raw.length)
  return bytes
}

async function verdicts(raw: Buffer): Promise<[algorithm: string, result: string, signed: string][]> {
  const { results } = await dkimVerify(raw, { resolver: async (name: string) => [[RECORDS[name] ?? '']] })
  return results.map(({ algo, status, signingHeaders }) => [
    algo ?? '',
    status.result,
    (signingHeaders?.keys ?? '').toLowerCase(),
  ])
}

const pass = (algorithm: string) => [algorithm, 'pass', expect.anything()]

const body = (raw: Buffer) => raw.subarray(raw.indexOf('\r\n\r\n'))

describe('signing', () => {
  it('signs with RSA and Ed25519, so that each verifies alone', async () => {
    expect(await verdicts(await composed(both))).toEqual([
      ['rsa-sha256', 'pass', expect.stringContaining('subject')],
      ['ed25519-sha256', 'pass', expect.stringContaining('subject')],
    ])
  })

  it('fails when a key is of no use, instead of sending unsigned', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const broken = { domain: 'example.test', keys: [{ selector: 's1', privateKey }] }
    await expect(composed(broken)).rejects.toThrow('The mail cannot be signed with the key s1')
  })
})

describe('a second field', () => {
  it.each([
    'From: eve@outside.test',
    'To: eve@outside.test',
    'Cc: eve@outside.test',
    'Subject: Another',
    'Date: Mon, 23 Nov 2026 10:00:00 +0000',
    'Reply-To: eve@outside.test',
    'Message-ID: <2@outside.test>',
    'MIME-Version: 1.0',
    'Content-Type: text/plain',
    'Content-Transfer-Encoding: base64',
    'In-Reply-To: <2@outside.test>',
    'References: <2@outside.test>',
  ])('that is added to a signed mail breaks its signatures: %s', async (field) => {
    const before = await composed(both)
    const failed = ['rsa-sha256', 'ed25519-sha256'].map((algorithm) => [algorithm, 'fail', expect.anything()])
    for (const signed of [before, await led(before, both)]) {
      expect(await verdicts(Buffer.concat([Buffer.from(`${field}\r\n`), signed]))).toEqual(failed)
      const end = signed.indexOf('\r\n\r\n')
      const below = [signed.subarray(0, end), Buffer.from(`\r\n${field}`), signed.subarray(end)]
      expect(await verdicts(Buffer.concat(below))).toEqual(failed)
    }
  })

  it('of a name that the signature does not protect breaks nothing', async () => {
    const traced = Buffer.concat([Buffer.from('Received: from a by b\r\nSender: list@b.test\r\n'), await composed(one)])
    expect(await verdicts(traced)).toEqual([pass('rsa-sha256')])
  })
})

describe('fields in front of a mail', () => {
  it.each([1, 7, 1_000, 1_000_000])('are signed together with the rest, read by %i bytes', async (size) => {
    const before = await composed(both)
    const after = await led(before, both, size)
    expect(await verdicts(after)).toEqual([
      ['rsa-sha256', 'pass', expect.stringMatching(/list-unsubscribe-post.*list-unsubscribe/)],
      ['ed25519-sha256', 'pass', expect.stringMatching(/list-unsubscribe-post.*list-unsubscribe/)],
    ])
    expect(body(after).equals(body(before))).toBe(true)
  })

  it('verify no more once one of them is altered', async () => {
    const after = (await led(await composed(one), one)).toString('latin1').replace('/u/x', '/u/y')
    expect(await verdicts(Buffer.from(after, 'latin1'))).toEqual([['rsa-sha256', 'fail', expect.anything()]])
  })

  it('are signed with the keys of now, whatever key signed the mail before', async () => {
    const old = { domain: 'example.test', keys: [{ selector: 'old', privateKey: rsa.privateKey }] }
    expect(await verdicts(await led(await composed(old), both))).toEqual([pass('rsa-sha256'), pass('ed25519-sha256')])
  })

  it('stay unsigned where the mail has no signature, or there is no key', async () => {
    const unsigned = await composed(undefined)
    for (const keys of [one, undefined]) {
      expect((await led(unsigned, keys)).equals(Buffer.concat([Buffer.from(FIELDS), unsigned]))).toBe(true)
    }
    const signed = await composed(one)
    expect((await led(signed, undefined)).equals(Buffer.concat([Buffer.from(FIELDS), signed]))).toBe(true)
  })

  it('leave long and folded fields of the mail as they are', async () => {
    const headers = { 'X-Long': 'word '.repeat(30_000).trim(), 'X-DKIM-Signature': 'bh=no; hash' }
    const before = await composed(one, headers)
    const after = await led(before, one)
    expect(await verdicts(after)).toEqual([pass('rsa-sha256')])
    const rest = before.subarray(before.indexOf('\r\nX-Long'))
    expect(after.subarray(after.indexOf('\r\nX-Long')).equals(rest)).toBe(true)
  })

  it('end the reading of a mail that nobody reads to its end', async () => {
    const mail = Readable.from([await composed(one)])
    const { content } = await withLeadingFields(mail, FIELDS, one)
    content.destroy()
    await new Promise((resolve) => mail.once('close', resolve))
    expect(mail.destroyed).toBe(true)
  })

  it('fail when reading the mail fails', async () => {
    const broken = new Readable({ read: () => void broken.destroy(new Error('gone')) })
    await expect(withLeadingFields(broken, FIELDS, one)).rejects.toThrow('gone')
  })
})
