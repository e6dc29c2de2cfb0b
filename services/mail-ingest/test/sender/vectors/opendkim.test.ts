import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { DnsZone, describeAtFullLength } from '@restante/testkit'
import { judgeBy } from './judge-mail.ts'

const MAIL = [
  'From: Ann  <ann@signed.test>',
  'To: bo@x.test,',
  '\tada@x.test',
  'Subject: Hello    there ',
  'Date: Mon, 23 Nov 2026 10:00:00 +0000',
  'Message-ID: <1@signed.test>',
  '',
  'Hello  you \t',
  '',
  'The end.',
  '',
  '',
].join('\r\n')
const LONG_MAIL = `${MAIL}${'A line of a long mail. \r\n'.repeat(20_000)}`

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ED25519 = generateKeyPairSync('ed25519')
const KEYS = {
  'rsa-sha256': {
    pem: RSA.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    record: `v=DKIM1; k=rsa; p=${RSA.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`,
  },
  'ed25519-sha256': {
    pem: ED25519.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    // The record has the bare key, which is the end of its usual form (RFC 8463 4.2).
    record: `v=DKIM1; k=ed25519; p=${ED25519.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`,
  },
} as const
type Algorithm = keyof typeof KEYS

/** Not Ed25519 over simple headers: OpenDKIM 2.11 does not verify these signatures of its own either. */
const CASES: readonly (readonly [Algorithm, string])[] = [
  ['rsa-sha256', 'simple/simple'],
  ['rsa-sha256', 'simple/relaxed'],
  ['rsa-sha256', 'relaxed/simple'],
  ['rsa-sha256', 'relaxed/relaxed'],
  ['ed25519-sha256', 'relaxed/simple'],
  ['ed25519-sha256', 'relaxed/relaxed'],
]

describeAtFullLength({ programs: ['opendkim'] }, 'a mail that OpenDKIM has signed', () => {
  let folder: string
  let zone: DnsZone
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'restante-opendkim-'))
    zone = await new DnsZone().start()
  })
  afterAll(async () => {
    await zone.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** The mail below the signature that OpenDKIM would insert: its test mode prints the field. */
  async function sign(mail: string, algorithm: Algorithm, canonicalization: string): Promise<string> {
    const file = (name: string) => path.join(folder, name)
    await writeFile(file('key.pem'), KEYS[algorithm].pem, { mode: 0o600 })
    // In its test mode it reads lines that end as those of other files.
    await writeFile(file('mail.eml'), mail.replaceAll('\r\n', '\n'))
    const settings = ['Mode s', 'Domain signed.test', 'Selector s1', `KeyFile ${file('key.pem')}`, 'Syslog no']
    const chosen = [`SignatureAlgorithm ${algorithm}`, `Canonicalization ${canonicalization}`, 'RequireSafeKeys no']
    await writeFile(file('opendkim.conf'), `${[...settings, ...chosen].join('\n')}\n`)
    const { stdout } = await promisify(execFile)('opendkim', ['-x', file('opendkim.conf'), '-t', file('mail.eml')])
    const [signature] = /^DKIM-Signature: .*(?:\r?\n[ \t].*)*/m.exec(stdout) ?? []
    if (signature === undefined) throw new Error(`OpenDKIM printed no signature: ${stdout}`)
    return `${signature.replace(/\r?\n/g, '\r\n')}\r\n${mail}`
  }

  it.each(CASES)('with %s in the form %s passes, and fails once it is altered', async (algorithm, canonicalization) => {
    zone.set('s1._domainkey.signed.test', { type: 'TXT', data: KEYS[algorithm].record })
    for (const mail of [MAIL, LONG_MAIL]) {
      const signed = await sign(mail, algorithm, canonicalization)
      const judged = async (text: string) => {
        const { verdict, authentication } = await judgeBy(zone, { raw: Buffer.from(text, 'latin1') })
        return [verdict, authentication.dkim]
      }
      expect(await judged(signed)).toEqual(['pass', 'pass'])
      expect(await judged(signed.replace('Hello    there', 'Hello    where'))).toEqual(['none', 'fail'])
      expect(await judged(signed.replace('ann@', 'eve@'))).toEqual(['none', 'fail'])
      // RFC 8601 2.7.1 has no result for a body that differs but `fail`; mailauth calls it neutral.
      expect(await judged(signed.replace('The end', 'The END'))).toEqual(['none', 'neutral'])
      expect(await judged(`${signed}More.\r\n`)).toEqual(['none', 'neutral'])
    }
  })
})
