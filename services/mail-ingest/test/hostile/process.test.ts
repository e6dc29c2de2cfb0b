import { operations } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { byLength, DnsZone, underLoad, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf } from '../mailbox-fixture.ts'
import { HOSTILE_MAILS } from './support/mails.ts'
import { Peer } from './support/peer.ts'
import { IngestProcess } from './support/process.ts'

const LONGEST_ANSWER_MS = 1_000
const MOST_MEMORY_MB = 512
/** Commands of one flood; the floods of bytes are a multiple of it. */
const FLOOD = byLength({ short: 50_000, long: 500_000 })

const STORED = sql<{ message_id: string; thread_id: string }, [inboxUid: string]>(
  'select message_id, thread_id from messages where inbox_uid = $1',
)
const WAITING = sql<{ count: number }>('select count(*)::int as count from inbound')

let fixture: Fixture
let zone: DnsZone
let service: IngestProcess

beforeAll(async () => {
  zone = await new DnsZone().start()
  // The fixture reads; the process under attack does everything else.
  fixture = await openFixture({ ROLES: 'api' })
  service = await IngestProcess.start(fixture, { SENDER_AUTH: 'dns', DNS_SERVERS: zone.address })
}, 90_000)
afterAll(async () => {
  await service.stop()
  await fixture.stop()
  await zone.stop()
}, 30_000)

/** Does something hostile while others ask, and checks that they were answered. */
async function whileOthersAreAnswered(attack: () => Promise<void>): Promise<void> {
  const end = await service.probe()
  await attack()
  const { asked, ...worst } = await end()
  expect(asked).toBeGreaterThan(0)
  for (const ms of Object.values(worst)) expect(ms).toBeLessThan(underLoad(LONGEST_ANSWER_MS))
  expect(await service.peakMemory()).toBeLessThan(MOST_MEMORY_MB)
}

/** Sends the bytes of a mail as DATA carries them; resolves to the code of the answer. */
async function send(address: string, raw: Buffer, localAddress = '127.0.0.66'): Promise<number> {
  const peer = await Peer.greeted(service.smtpPort, localAddress)
  await peer.begin(address)
  const text = raw.toString('latin1').replace(/^\./gm, '..')
  peer.send(`${text}${text === '' || text.endsWith('\r\n') ? '' : '\r\n'}.\r\n`)
  await waitFor(async () => peer.codes.length > 0, { what: 'the answer to a mail', timeout: 30_000 })
  peer.drop()
  return peer.codes[0] ?? 0
}

describe('mail-ingest answers others within a second and stays below 512 MB', () => {
  it('while hostile mails arrive, each of which is stored once and can be read', async () => {
    const inboxes = await Promise.all(HOSTILE_MAILS.map(() => fixture.inbox()))
    await whileOthersAreAnswered(async () => {
      for (const [index, { raw }] of HOSTILE_MAILS.entries()) {
        expect(await send(inboxes[index]?.address ?? '', raw())).toBe(250)
      }
      const isEmpty = async () => (await fixture.db.query(WAITING))[0]?.count === 0
      await waitFor(isEmpty, { what: 'every mail to be processed', timeout: 90_000 })
    })
    const problems: Record<string, string> = {}
    for (const [index, { what }] of HOSTILE_MAILS.entries()) {
      const inbox = inboxes[index]
      const problem = inbox ? await problemOf(inbox) : 'no inbox'
      if (problem !== undefined) problems[what] = problem
    }
    expect(problems).toEqual({})
  }, 180_000)

  it('while mails of 41 MB arrive, whatever size they claim', async () => {
    const inbox = await fixture.inbox()
    await whileOthersAreAnswered(async () => {
      const mail = Buffer.alloc(41 * 1024 * 1024, `${'x'.repeat(998)}\r\n`)
      expect(await Promise.all([1, 2, 3].map(() => send(inbox.address, mail)))).toEqual([552, 552, 552])
      const peer = await Peer.greeted(service.smtpPort, '127.0.0.66')
      await peer.command('EHLO evil.test')
      expect((await peer.command('MAIL FROM:<eve@evil.test> SIZE=42991616')).code).toBe(552)
      peer.drop()
    })
    expect(await fixture.db.query(STORED, inbox.inbox_uid)).toEqual([])
  }, 60_000)

  it('while one client opens a thousand silent connections', async () => {
    await whileOthersAreAnswered(async () => {
      const crowd = await Promise.all(Array.from({ length: 1_000 }, () => Peer.connect(service.smtpPort, '127.0.0.67')))
      const answered = () => crowd.filter(({ said }) => said !== '')
      await waitFor(async () => answered().length === crowd.length, { what: 'an answer to each', timeout: 20_000 })
      expect(crowd.filter(({ codes }) => codes[0] === 220)).toHaveLength(20)
      expect(crowd.filter(({ codes }) => codes[0] === 421)).toHaveLength(980)
      for (const peer of crowd) peer.drop()
    })
  }, 60_000)

  it('while clients send commands, dots and garbage as fast as they can', async () => {
    const inbox = await fixture.inbox()
    await whileOthersAreAnswered(async () => {
      const flood = async (bytes: string, prepare = async (_: Peer) => {}): Promise<void> => {
        const peer = await Peer.greeted(service.smtpPort, '127.0.0.68')
        await prepare(peer)
        peer.send(bytes)
        await peer.closed(30_000)
      }
      const inData = (peer: Peer) => peer.begin(inbox.address)
      await Promise.all([
        flood('NOOP\r\n'.repeat(FLOOD)),
        flood('RSET\r\n'.repeat(FLOOD)),
        flood('\r\n'.repeat(2 * FLOOD)),
        flood('x'.repeat(20 * FLOOD)),
        flood(`${'..\r\n'.repeat(FLOOD / 2)}\n\r\n.\r\n`, inData),
        flood(`${'\n'.repeat(10 * FLOOD)}\r\n.\r\n`, inData),
      ])
    })
    expect(await fixture.db.query(STORED, inbox.inbox_uid)).toEqual([])
  }, 60_000)
})

/** What is wrong with the one mail of an inbox as its reader finds it; undefined: nothing. */
async function problemOf({ inbox_uid, caller }: TestInbox): Promise<string | undefined> {
  const [stored, ...others] = await fixture.db.query(STORED, inbox_uid)
  if (!stored || others.length > 0) return `stored ${others.length + (stored ? 1 : 0)} times`
  const place = pathOf(stored.message_id)
  const { status, text, body } = await fixture.call(caller, 'messages.get', 'GET', place)
  if (status !== 200) return `GET message: ${status} ${text.slice(0, 200)}`
  const parsed = operations['messages.get'].response.safeParse(body)
  if (!parsed.success) return parsed.error.message.slice(0, 500)
  if (/\\u0000|\\ud[89a-f]/i.test(text)) return 'holds what PostgreSQL does not'
  const { mime, send: longest } = LIMITS
  const lists = [body.to, body.cc ?? [], body.bcc ?? [], body.reply_to ?? []]
  if (lists.some((list) => list.length > mime.addresses)) return 'too many addresses'
  if ((body.references ?? []).length > mime.references) return 'too many references'
  if ((body.attachments ?? []).length > mime.parts) return 'too many attachments'
  if ((body.subject ?? '').length > longest.subject) return 'the subject is too long'
  if (Buffer.byteLength(body.text ?? '') > 2 * mime.bodyBytes) return 'the text is too long'
  const thread = await fixture.call(caller, 'threads.get', 'GET', `/threads/${stored.thread_id}`)
  if (thread.status !== 200) return `GET thread: ${thread.status}`
  const [attachment] = body.attachments ?? []
  const parts = attachment === undefined ? ['/raw'] : ['/raw', `/attachments/${attachment.attachment_id}`]
  for (const part of parts) {
    const operation = part === '/raw' ? 'messages.getRaw' : 'messages.getAttachment'
    const link = await fixture.call(caller, operation, 'GET', `${place}${part}`)
    const file = await fetch(link.body.download_url.replace('http://public.test/v0', fixture.url))
    const bytes = (await file.arrayBuffer()).byteLength
    if (file.status !== 200 || bytes !== link.body.size) return `${part}: ${file.status}, ${bytes} bytes`
    if (/filename="?[^;]*[/\\]/.test(file.headers.get('content-disposition') ?? '')) return `${part} leads elsewhere`
  }
  return undefined
}
