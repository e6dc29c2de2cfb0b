import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createLogger } from '@restante/service/telemetry'
import { describeAtFullLength, freePort, waitFor } from '@restante/testkit'
import { clamdAddress, VirusScanner } from '@restante/virus-scan'

/** The test file of EICAR, in two parts: a scanner would find it in this file. */
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('')
const MAX_LENGTH = 1024 * 1024
const SCANS = 2_000

function mailWith(content: string, encoding: '7bit' | 'base64' = '7bit'): Buffer {
  const body = encoding === 'base64' ? Buffer.from(content).toString('base64') : content
  const attachment = `Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`
  return Buffer.from(
    `From: ada@customer.test\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n` +
      `--b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n--b\r\n${attachment}--b--\r\n`,
  )
}

describeAtFullLength({ programs: ['clamd'] }, 'a real clamd', () => {
  let folder: string
  let clamd: ChildProcess
  const addresses: Record<string, string> = {}

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'restante-clamd-'))
    const [port, socket] = [await freePort(), path.join(folder, 'clamd.socket')]
    Object.assign(addresses, { TCP: `tcp://127.0.0.1:${port}`, 'a socket file': `unix://${socket}` })
    await mkdir(path.join(folder, 'signatures'))
    const signature = `Test.Eicar:0:*:${Buffer.from(EICAR).toString('hex')}\n`
    await writeFile(path.join(folder, 'signatures', 'test.ndb'), signature)
    const settings = [
      ...['Foreground yes', `TCPSocket ${port}`, 'TCPAddr 127.0.0.1', `LocalSocket ${socket}`],
      ...[`DatabaseDirectory ${folder}/signatures`, `TemporaryDirectory ${folder}`, `StreamMaxLength ${MAX_LENGTH}`],
    ]
    await writeFile(path.join(folder, 'clamd.conf'), `${settings.join('\n')}\n`)
    clamd = spawn('clamd', ['--config-file', path.join(folder, 'clamd.conf')], { stdio: 'ignore' })
    await waitFor(async () => (await scan('TCP', Buffer.from('ready?'))) === 'clean', {
      what: 'clamd',
    })
  })
  afterAll(async () => {
    if (clamd.exitCode === null && clamd.kill()) await once(clamd, 'exit')
    await rm(folder, { recursive: true, force: true })
  })

  function scan(way: string, mail: Buffer) {
    const address = clamdAddress(addresses[way] ?? '')
    if (address === undefined) throw new Error(`no address for ${way}`)
    const log = createLogger({ service: 'test', level: 'silent' })
    return new VirusScanner({ clamd: address, timeoutMs: 10_000, concurrency: 4, log }).scan(
      { id: 'm', attempts: 2 },
      mail,
    )
  }

  it.each(['TCP', 'a socket file'])('finds a virus in an attachment, however it is encoded, over %s', async (way) => {
    expect(await scan(way, mailWith('Nothing but words.'))).toBe('clean')
    expect(await scan(way, mailWith(EICAR))).toBe('virus')
    expect(await scan(way, mailWith(EICAR, 'base64'))).toBe('virus')
  })

  it('says which mail is too large for it', async () => {
    expect(await scan('TCP', mailWith('x'.repeat(MAX_LENGTH / 2)))).toBe('clean')
    expect(await scan('TCP', mailWith('x'.repeat(2 * MAX_LENGTH)))).toBe('unscanned')
    // So much is still on its way when clamd ends the connection.
    expect(await scan('TCP', mailWith('x'.repeat(40 * MAX_LENGTH)))).toBe('unscanned')
  })

  it(`answers ${SCANS} scans of several mails at a time`, async () => {
    const mails = [mailWith(EICAR), mailWith('Words.'), mailWith('y'.repeat(100_000), 'base64')]
    const some = Array.from({ length: SCANS }, (_, index) => index % mails.length)
    for (let from = 0; from < some.length; from += 20) {
      const batch = some.slice(from, from + 20)
      const verdicts = await Promise.all(batch.map((index) => scan('TCP', mails[index] ?? Buffer.alloc(0))))
      expect(verdicts).toEqual(batch.map((index) => (index === 0 ? 'virus' : 'clean')))
    }
  })
})
