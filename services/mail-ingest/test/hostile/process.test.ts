import { sql } from '@restante/service/database'
import { byLength, sampleByLength, waitFor } from '@restante/testkit'
import type { Fixture, TestInbox } from '../fixture.ts'
import { ODD_MAILS } from './odd-mails/index.ts'
import { shownOf } from './odd-mails/shown-of.ts'
import { MailRun } from './support/mail-run.ts'
import { HOSTILE_MAILS } from './support/mails.ts'
import { Peer } from './support/peer.ts'
import { Ingest, type IngestProcess } from './support/process.ts'
import { BadReadingError, changeOf, readBack } from './support/read-back.ts'

/** Commands of one flood; the floods of bytes are a multiple of it. */
const FLOOD = byLength({ short: 25_000, long: 500_000 })

const HOSTILE = sampleByLength(4, HOSTILE_MAILS)
const ODD = sampleByLength(6, ODD_MAILS)

const STORED = sql<{ message_id: string; thread_id: string }, [inboxUid: string]>(
  'select message_id, thread_id from messages where inbox_uid = $1',
)
const WAITING = sql<{ count: number }>('select count(*)::int as count from inbound')

/** Those of which one fills a thread with text in small pieces. */
const HUNGRY = HOSTILE_MAILS.filter(({ what }) => ['endless empty lines', 'one endless line'].includes(what))

let ingest: Ingest
let fixture: Fixture
let service: IngestProcess

beforeAll(async () => {
  ingest = await Ingest.open()
  fixture = ingest.fixture
  service = ingest.service
})
afterAll(() => ingest.close())

/** Sends the bytes of a mail as DATA carries them; resolves to the code of the answer. */
async function send(address: string, raw: Buffer, localAddress = '127.0.0.66'): Promise<number> {
  const peer = await Peer.greeted(service.smtpPort, localAddress)
  await peer.begin(address)
  const text = raw.toString('latin1').replace(/^\./gm, '..')
  peer.send(`${text}${text === '' || text.endsWith('\r\n') ? '' : '\r\n'}.\r\n`)
  await waitFor(async () => peer.codes.length > 0, { what: 'the answer to a mail' })
  peer.drop()
  return peer.codes[0] ?? 0
}

const everyMailIsProcessed = async () => (await fixture.db.query(WAITING))[0]?.count === 0

describe('mail-ingest answers others within a second and stays below 512 MB', () => {
  it('while hostile mails arrive, each of which is stored once and read as it was sent', async () => {
    const inboxes = await Promise.all(HOSTILE.map(() => fixture.inbox()))
    await ingest.whileOthersAreAnswered(async () => {
      for (const [index, { raw }] of HOSTILE.entries()) {
        expect(await send(inboxes[index]?.address ?? '', raw())).toBe(250)
      }
      await waitFor(everyMailIsProcessed, { what: 'every mail to be processed', timeout: 90_000 })
    })
    const problems: Record<string, string> = {}
    for (const [index, { what, raw }] of HOSTILE.entries()) {
      const inbox = inboxes[index]
      const problem = inbox ? await problemOf(inbox, raw()) : 'no inbox'
      if (problem !== undefined) problems[what] = problem
    }
    expect(problems).toEqual({})
  }, 180_000)

  it('while odd mails arrive, each of which is read as it was sent', async () => {
    expect(ODD_MAILS.length).toBe(new Set(ODD_MAILS.map(({ what }) => what)).size)
    const run = await MailRun.open(ingest)
    const read = await ingest.whileOthersAreAnswered(() => run.send(ODD))
    expect(read.flatMap(({ mail, problem }) => (problem === undefined ? [] : [[mail.what, problem]]))).toEqual([])
    const shown = read.map((each) => [each.mail.what, shownOf(each, each.mail.shows)])
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(ODD.map(({ what, shows }) => [what, shows])))
  })

  it('while mails that need much memory arrive in eight inboxes at once', async () => {
    const inboxes = await Promise.all(Array.from({ length: 8 }, () => fixture.inbox()))
    await ingest.whileOthersAreAnswered(async () => {
      for (const { raw } of HUNGRY) {
        const mail = raw()
        const codes = await Promise.all(inboxes.map(({ address }) => send(address, mail)))
        expect(new Set(codes)).toEqual(new Set([250]))
      }
      await waitFor(everyMailIsProcessed, { what: 'every mail to be processed', timeout: 90_000 })
    })
    for (const { inbox_uid } of inboxes) expect(await fixture.db.query(STORED, inbox_uid)).toHaveLength(HUNGRY.length)
  }, 180_000)

  it('while mails of 41 MB arrive, whatever size they claim', async () => {
    const inbox = await fixture.inbox()
    await ingest.whileOthersAreAnswered(async () => {
      const mail = Buffer.alloc(41 * 1024 * 1024, `${'x'.repeat(998)}\r\n`)
      expect(await Promise.all([1, 2, 3].map(() => send(inbox.address, mail)))).toEqual([552, 552, 552])
      const peer = await Peer.greeted(service.smtpPort, '127.0.0.66')
      await peer.command('EHLO evil.test')
      expect((await peer.command('MAIL FROM:<eve@evil.test> SIZE=42991616')).code).toBe(552)
      peer.drop()
    })
    await waitFor(everyMailIsProcessed, { what: 'every mail to be processed' })
    expect(await fixture.db.query(STORED, inbox.inbox_uid)).toEqual([])
  })

  it('while one client opens a thousand silent connections', async () => {
    await ingest.whileOthersAreAnswered(async () => {
      const crowd = await Promise.all(Array.from({ length: 1_000 }, () => Peer.connect(service.smtpPort, '127.0.0.67')))
      const answered = () => crowd.filter(({ said }) => said !== '')
      await waitFor(async () => answered().length === crowd.length, { what: 'an answer to each' })
      expect(crowd.filter(({ codes }) => codes[0] === 220)).toHaveLength(20)
      expect(crowd.filter(({ codes }) => codes[0] === 421)).toHaveLength(980)
      for (const peer of crowd) peer.drop()
    })
  })

  it('while clients send commands, dots and garbage as fast as they can', async () => {
    const inbox = await fixture.inbox()
    await ingest.whileOthersAreAnswered(async () => {
      const flood = async (bytes: string, prepare = async (_: Peer) => {}): Promise<void> => {
        const peer = await Peer.greeted(service.smtpPort, '127.0.0.68')
        await prepare(peer)
        peer.send(bytes)
        await peer.closed()
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
    await waitFor(everyMailIsProcessed, { what: 'every mail to be processed' })
    expect(await fixture.db.query(STORED, inbox.inbox_uid)).toEqual([])
  })
})

/** What is wrong with the one mail of an inbox, which was sent in this form; undefined: nothing. */
async function problemOf({ inbox_uid, caller }: TestInbox, sent: Buffer): Promise<string | undefined> {
  const [stored, ...others] = await fixture.db.query(STORED, inbox_uid)
  if (!stored || others.length > 0) return `stored ${others.length + (stored ? 1 : 0)} times`
  try {
    return changeOf((await readBack(fixture, caller, stored)).raw, sent)
  } catch (error) {
    if (error instanceof BadReadingError) return error.message
    throw error
  }
}
