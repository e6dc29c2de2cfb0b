import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import { DnsZone, describeAtFullLength } from '@restante/testkit'
import { PROGRAMS, unpacked } from '../../collections/clients.ts'
import { asSmtpCarries } from '../../collections/messages.ts'
import { packageOf } from '../../collections/packages.ts'
import { judgeBy } from './judge-mail.ts'

const MAIL_AUTH = packageOf('mail-auth')
const JDKIM = packageOf('org.apache.james.jdkim:apache-jdkim-library')

/** Sets records from lines of a name and the text of its record. */
function setRecords(zone: DnsZone, lines: string): void {
  for (const [, name = '', data = ''] of lines.matchAll(/^([^#\s]\S*)\s+(.+?)\s*$/gm)) {
    if (data === '~~SERVFAIL~~') zone.fail(name)
    else if (data.startsWith('~~')) zone.silence(name)
    else if (data !== 'NXDOMAIN') zone.set(name, { type: 'TXT', data })
  }
}

describeAtFullLength({ programs: PROGRAMS.cargo }, 'the signed mails in mail-auth', () => {
  it('have the results that were published with them', async () => {
    const found: Record<string, string> = {}
    const folder = await unpacked(MAIL_AUTH)
    for await (const name of glob('*/resources/{dkim,arc}/*.txt', { cwd: folder })) {
      const [, records = '', mail = ''] =
        /^([\s\S]*?)\r?\n\r?\n([\s\S]*)$/.exec(await readFile(path.join(folder, name), 'latin1')) ?? []
      const zone = await new DnsZone().start()
      setRecords(zone, records)
      const { authentication } = await judgeBy(zone, { raw: asSmtpCarries(mail) })
      await zone.stop()
      found[name.split('/').slice(-2).join('/')] = `dkim=${authentication.dkim} arc=${authentication.arc}`
    }
    expect(found).toEqual({
      'dkim/001.txt': 'dkim=pass arc=none',
      'dkim/002.txt': 'dkim=pass arc=none',
      'dkim/003.txt': 'dkim=pass arc=none',
      'dkim/004.txt': 'dkim=pass arc=none',
      // It expired in 2022, and was valid when it was published.
      'dkim/005.txt': 'dkim=neutral arc=none',
      'dkim/006.txt': 'dkim=pass arc=none',
      // The list that sealed it had changed its body.
      'arc/001.txt': 'dkim=neutral arc=pass',
      'arc/002.txt': 'dkim=pass arc=pass',
    })
  })
})

describeAtFullLength({ programs: PROGRAMS.mvn }, 'the signed mails of Mail::DKIM and jDKIM', () => {
  it('pass only where they are valid and what signs them is allowed today', async () => {
    const folder = path.join(await unpacked(JDKIM), 'org/apache/james/jdkim')
    const zone = await new DnsZone().start()
    setRecords(zone, await readFile(path.join(folder, 'Mail-DKIM/FAKE_DNS.dat'), 'latin1'))
    const results = new Map<string, string[]>()
    for await (const name of glob('{Mail-DKIM/corpus,corpus}/*', { cwd: folder })) {
      const raw = asSmtpCarries(await readFile(path.join(folder, name), 'latin1'))
      const { authentication } = await judgeBy(zone, { raw })
      results.set(authentication.dkim, [...(results.get(authentication.dkim) ?? []), path.basename(name)])
    }
    await zone.stop()
    // The others use SHA-1 (RFC 8301), keys of less than 1,024 bits, drafts, DomainKeys, or keys that are not published.
    expect(results.get('pass')?.sort()).toEqual(['mine_ietf01_3.txt', 'mine_ietf01_4.txt', 's1024_yahoo.com.eml'])
    const counts = [...results].map(([result, names]) => [result, names.length])
    expect(Object.fromEntries(counts)).toEqual({ pass: 3, policy: 33, neutral: 23, none: 17 })
  })
})
