import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DnsZone, describeAtFullLength, freePort, type Submission, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail } from '../mailbox-fixture.ts'

/** The test text of spam filters, in two parts: a filter would find it in this file. */
const GTUBE = ['XJS*C4JDBQADN1.NSBN3*2IDNEN*', 'GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'].join('')
const ORDINARY: Omit<Submission, 'port'> = {
  text: 'Hello Bo,\n\nshall we meet on Friday to talk about the order? I could be there at ten.\n\nAda\n',
}

describeAtFullLength({ programs: ['rspamd'] }, 'a real rspamd', () => {
  let folder: string
  let rspamd: ChildProcess
  let zone: DnsZone
  let fixture: Fixture
  let inbox: TestInbox

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'restante-rspamd-'))
    zone = await new DnsZone().start()
    const port = await freePort()
    const settings = {
      'options.inc': `dns { nameserver = ["${zone.address}"]; timeout = 1s; retransmits = 1; }\ndisable_hyperscan = true;`,
      'logging.inc': 'type = "console";\nlevel = "error";',
      'worker-normal.inc': `bind_socket = "127.0.0.1:${port}";\ncount = 1;`,
      'worker-controller.inc': 'enabled = false;',
      'worker-proxy.inc': 'enabled = false;',
    }
    await mkdir(path.join(folder, 'local.d'))
    for (const [name, text] of Object.entries(settings))
      await writeFile(path.join(folder, 'local.d', name), `${text}\n`)
    const places = ['LOCAL_CONFDIR', 'DBDIR', 'RUNDIR', 'LOGDIR'].map((name) => `--var=${name}=${folder}`)
    // The rules and scores of the package, with the local settings above.
    rspamd = spawn('rspamd', ['-f', '-i', '-c', '/etc/rspamd/rspamd.conf', ...places], { stdio: 'ignore' })
    const url = `http://127.0.0.1:${port}`
    await waitFor(async () => (await fetch(`${url}/ping`)).ok, { what: 'rspamd', timeout: 90_000 })
    fixture = await openFixture({ RSPAMD_URL: url })
  }, 180_000)
  afterAll(async () => {
    await fixture.stop()
    await stop()
    await zone.stop()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    inbox = await fixture.inbox()
  })

  async function stop(): Promise<void> {
    if (rspamd.exitCode === null && rspamd.signalCode === null && rspamd.kill()) await once(rspamd, 'exit')
  }

  async function labelsOf(mail: Omit<Submission, 'port'>): Promise<readonly string[]> {
    const { body } = await fixture.call(
      inbox.caller,
      'messages.get',
      'GET',
      pathOf(await receiveMail(fixture, inbox, mail)),
    )
    return body.labels
  }

  it('labels GTUBE as spam', async () => {
    expect(await labelsOf({ text: `Hello\n\n${GTUBE}\n` })).toEqual(['received', 'unread', 'spam'])
  })

  it('lets an ordinary mail through', async () => {
    expect(await labelsOf(ORDINARY)).toEqual(['received', 'unread'])
  })

  it('finds GTUBE in an encoded part', async () => {
    const html = { contentType: 'text/html', content: Buffer.from(`Hello\r\n\r\n${GTUBE}\r\n`) }
    expect(await labelsOf({ text: 'See below.', alternatives: [html] })).toEqual(['received', 'unread', 'spam'])
  })

  it('holds up no mail while it is down: the built-in rules decide, which know GTUBE, too', async () => {
    await stop()
    expect(await labelsOf(ORDINARY)).toEqual(['received', 'unread'])
    expect(await labelsOf({ text: `Hello\n\n${GTUBE}\n` })).toEqual(['received', 'unread', 'spam'])
  })
})
