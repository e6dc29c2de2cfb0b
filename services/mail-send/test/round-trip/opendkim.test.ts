import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { describeAtFullLength } from '@restante/testkit'
import fc from 'fast-check'
import { arrived, RECORDS } from './arrived.ts'
import { wishes } from './generated.ts'

const SEED = 20_261_124
const MAILS = 300

/** Fields of which no mail of ours may get another one. */
const OVERSIGNED = ['From', 'To', 'Cc', 'Subject', 'Date', 'Reply-To', 'Message-ID', 'MIME-Version', 'Content-Type']

describeAtFullLength({ programs: ['opendkim'] }, 'to OpenDKIM', () => {
  let folder: string
  let mails: Buffer[] = []
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'restante-opendkim-'))
    const records = Object.entries(RECORDS).map(([name, record]) => `${name} ${record}\n`)
    await writeFile(path.join(folder, 'records'), records.join(''))
    const settings = ['Mode v', 'Syslog no', `TestPublicKeys ${path.join(folder, 'records')}`]
    await writeFile(path.join(folder, 'opendkim.conf'), `${settings.join('\n')}\n`)
    mails = await arrived(fc.sample(wishes, { seed: SEED, numRuns: MAILS }))
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** What its test mode prints as the result of each signature. */
  async function judged(mail: Buffer): Promise<string[]> {
    const file = path.join(folder, 'mail.eml')
    // In its test mode it reads lines that end as those of other files.
    await writeFile(file, mail.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
    const { stdout } = await promisify(execFile)('opendkim', [
      '-vv',
      ...['-x', path.join(folder, 'opendkim.conf'), '-t', file],
    ])
    return [...stdout.matchAll(/dkim=(\w+).*? header\.s=(\w+)/gs)].map(
      ([, result, selector]) => `${selector} ${result}`,
    )
  }

  it(`both signatures of each of ${MAILS} generated mails are valid`, async () => {
    for (const mail of mails) expect((await judged(mail)).toSorted()).toEqual(['s1 pass', 's2 pass'])
  })

  it.each(OVERSIGNED)('neither is valid once somebody adds another %s', async (name) => {
    const [mail = Buffer.alloc(0)] = mails
    const added = Buffer.concat([Buffer.from(`${name}: eve@elsewhere.test\r\n`), mail])
    expect((await judged(added)).toSorted()).toEqual(['s1 fail', 's2 fail'])
  })

  it('neither is valid once the body or a field was altered', async () => {
    const [mail = Buffer.alloc(0)] = mails
    const text = mail.toString('latin1')
    for (const altered of [`${text}More.\r\n`, text.replace('desk@example.test', 'eve@example.test')])
      expect((await judged(Buffer.from(altered, 'latin1'))).toSorted()).toEqual(['s1 fail', 's2 fail'])
  })
})
