import { sql } from '@restante/service/database'
import { SmtpSession, waitFor } from '@restante/testkit'
import type { TestInbox } from '../../fixture.ts'
import type { Ingest } from './process.ts'
import { changeOf, type MailRead, readBack } from './read-back.ts'

/** A mail to be sent, as SMTP carries it. */
export interface RunMail {
  readonly what: string
  readonly raw: Buffer
}

/** A mail that was stored, as it is read. */
export interface RunResult<M extends RunMail> extends Partial<MailRead> {
  readonly mail: M
  /** Undefined: nothing is wrong with it. */
  readonly problem: string | undefined
}

const LANES = 8
/** Mails that are sent before those already sent must have been processed. */
const TOGETHER = 40
/** From the last `250` until all of them are stored, which takes less than a second. */
const LONGEST_MS = 60_000
const MESSAGE_ID = /^message-id:\s*(\S+)/im

const WAITING = sql<{ count: number }>('select count(*)::int as count from inbound')

interface Sending<M> {
  readonly mail: M
  readonly lane: number
  /** The name in EHLO, which the trace of the stored mail has. */
  readonly name: string
}

/** Sends mails by SMTP to a process, and reads all of them from its mailbox. */
export class MailRun {
  readonly #ingest: Ingest
  readonly #inboxes: readonly TestInbox[]
  #sent = 0

  private constructor(ingest: Ingest, inboxes: readonly TestInbox[]) {
    this.#ingest = ingest
    this.#inboxes = inboxes
  }

  static async open(ingest: Ingest): Promise<MailRun> {
    return new MailRun(ingest, await Promise.all(Array.from({ length: LANES }, () => ingest.fixture.inbox())))
  }

  /**
   * Sends mails over SMTP and reads them all back.
   * @throws Error when one is refused, or not stored 20 s after the last was accepted.
   */
  async send<M extends RunMail>(mails: readonly M[]): Promise<RunResult<M>[]> {
    const sendings: Sending<M>[] = []
    const lanes = lanesOf(mails)
    for (let from = 0; from < mails.length; from += TOGETHER) {
      const some = mails.slice(from, from + TOGETHER).map((mail, at) => ({ mail, lane: lanes[from + at] ?? 0 }))
      const sent = this.#inboxes.map((inbox, lane) =>
        this.#deliver(
          inbox,
          some.filter((each) => each.lane === lane),
        ),
      )
      sendings.push(...(await Promise.all(sent)).flat())
      await this.#processed(some.map(({ mail }) => mail.what))
    }
    const read = await Promise.all(
      this.#inboxes.map((inbox, lane) =>
        this.#read(
          inbox,
          sendings.filter((each) => each.lane === lane),
        ),
      ),
    )
    return read.flat()
  }

  async #processed(names: readonly string[]): Promise<void> {
    const what = `these mails to be processed: ${names.join('; ')}`
    const isEmpty = async () => (await this.#ingest.fixture.db.query(WAITING))[0]?.count === 0
    await waitFor(isEmpty, { what, timeout: LONGEST_MS })
  }

  async #deliver<M extends RunMail>(
    inbox: TestInbox,
    mails: readonly { mail: M; lane: number }[],
  ): Promise<Sending<M>[]> {
    if (mails.length === 0) return []
    const session = await SmtpSession.open(this.#ingest.service.smtpPort, { localAddress: '127.0.0.66' })
    const sendings: Sending<M>[] = []
    for (const { mail, lane } of mails) {
      const name = `mail-${++this.#sent}.test`
      await session.command(`EHLO ${name}`)
      await session.command('MAIL FROM:<eve@evil.test>')
      await session.command(`RCPT TO:<${inbox.address}>`)
      await session.command('DATA')
      session.write(Buffer.from(`${mail.raw.toString('latin1').replace(/^\./gm, '..')}.\r\n`, 'latin1'))
      const { code, text } = await session.reply()
      if (code !== 250) throw new Error(`${mail.what}: ${code} ${text}`)
      sendings.push({ mail, lane, name })
    }
    await session.quit()
    return sendings
  }

  async #read<M extends RunMail>(inbox: TestInbox, sendings: readonly Sending<M>[]): Promise<RunResult<M>[]> {
    const read = new Map<string, MailRead | Error>()
    for (const place of await this.#list(inbox)) {
      const found = await readBack(this.#ingest.fixture, inbox.caller, place).catch((error: Error) => error)
      read.set(found instanceof Error ? place.message_id : nameIn(found.raw), found)
    }
    const lost = [...read].flatMap(([key, found]) => (found instanceof Error ? [`${key}: ${found.message}`] : []))
    return sendings.map(({ mail, name }) => {
      const found = read.get(name)
      if (found === undefined || found instanceof Error)
        return { mail, problem: `not found; messages that cannot be read: ${lost.join('; ')}` }
      return { mail, ...found, problem: changeOf(found.raw, mail.raw) }
    })
  }

  /** Every message of an inbox, page by page. */
  async #list({ caller }: TestInbox) {
    const listed: { message_id: string; thread_id: string }[] = []
    for (let token: string | undefined = ''; token !== undefined; ) {
      const page: string = token === '' ? '' : `&page_token=${encodeURIComponent(token)}`
      const place = `/messages?limit=50&include_unauthenticated=true&include_spam=true${page}`
      const { status, text, body } = await this.#ingest.fixture.call(caller, 'messages.list', 'GET', place)
      if (status !== 200) throw new Error(`GET messages: ${status} ${text.slice(0, 200)}`)
      listed.push(...body.messages)
      token = body.next_page_token
    }
    return listed
  }
}

/** An inbox for each mail, so that mails with the same Message-ID, which may be copies, go to different ones. */
function lanesOf(mails: readonly RunMail[]): number[] {
  const seen = new Map<string, number>()
  return mails.map(({ raw }, index) => {
    const [, id] = MESSAGE_ID.exec(raw.toString('latin1', 0, 64 * 1024)) ?? []
    if (id === undefined) return index % LANES
    const lane = seen.get(id) ?? index % LANES
    seen.set(id, lane + 1)
    return lane % LANES
  })
}

function nameIn(raw: Buffer): string {
  return /^Received: from (\S+) /m.exec(raw.toString('latin1', 0, 8 * 1024))?.[1] ?? ''
}
