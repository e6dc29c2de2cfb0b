import { createServer, type Server } from 'node:http'
import { type CollectedRecord, sendMail, type TopicCollection } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'

interface Verdict {
  readonly status?: number
  readonly body: unknown
}

/** A fake rspamd: records its requests, and returns the answers that a test sets. */
class Rspamd {
  readonly asked: { headers: Record<string, unknown>; body: string }[] = []
  verdict: Verdict = { body: {} }
  readonly #server: Server

  constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks = await request.toArray()
      this.asked.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.statusCode = this.verdict.status ?? 200
      response.end(JSON.stringify(this.verdict.body))
    })
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : ''
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

const rspamd = new Rspamd()
let fixture: Fixture
let inbox: TestInbox
let facts: TopicCollection

beforeAll(async () => {
  fixture = await openFixture({ RSPAMD_URL: await rspamd.start() })
  facts = await fixture.collect('mail.inbound')
})
afterAll(async () => {
  await fixture.stop()
  rspamd.stop()
})
beforeEach(async () => {
  inbox = await fixture.inbox()
})

async function outcomeOf(
  verdict: Verdict,
): Promise<{ type: string; labels?: string[]; reason?: string; spam_score?: number }> {
  rspamd.verdict = verdict
  await sendMail({ port: fixture.smtpPort, from: 'ada@customer.test', to: inbox.address, subject: 'Hi', text: 'Hello' })
  const isOutcome = ({ key, type }: CollectedRecord) => key === inbox.inbox_uid && type !== 'mail.accepted'
  const record = await facts.next(isOutcome, { what: 'the outcome' })
  return { ...JSON.parse(record.value), type: record.type }
}

describe('rspamd', () => {
  it('gets the envelope and the mail, and its verdict is used', async () => {
    const outcome = await outcomeOf({ body: { score: 12.5, action: 'add header', symbols: {} } })
    expect(outcome).toMatchObject({ type: 'mail.processed', spam_score: 12.5, labels: ['received', 'unread', 'spam'] })
    const asked = rspamd.asked.at(-1)
    expect(asked?.headers).toMatchObject({ from: 'ada@customer.test', rcpt: inbox.address, ip: '127.0.0.1' })
    expect(asked?.body).toContain('Subject: Hi')
  })

  it('can accept mail', async () => {
    const outcome = await outcomeOf({ body: { score: 3, action: 'greylist', symbols: {} } })
    expect(outcome).toMatchObject({ type: 'mail.processed', labels: ['received', 'unread'] })
  })

  it('causes mail with a virus to be discarded', async () => {
    const outcome = await outcomeOf({ body: { score: 99, action: 'reject', symbols: { CLAM_VIRUS: { score: 1 } } } })
    expect(outcome).toMatchObject({ type: 'mail.discarded', reason: 'virus' })
  })

  it.each(['CLAM_VIRUS_FAIL', 'CLAM_VIRUS_ENCRYPTED', 'CLAM_VIRUS_MACRO', 'DBL_MALWARE'])(
    'keeps rejected mail as spam that has %s, which is no virus',
    async (symbol) => {
      const outcome = await outcomeOf({ body: { score: 99, action: 'reject', symbols: { [symbol]: { score: 7 } } } })
      expect(outcome).toMatchObject({ type: 'mail.processed', labels: ['received', 'unread', 'spam'] })
    },
  )

  it.each([{ status: 500, body: {} }, { body: { nonsense: true } }])(
    'does not hold up mail when it answers %j',
    async (verdict) => {
      expect(await outcomeOf(verdict)).toMatchObject({ type: 'mail.processed', labels: ['received', 'unread'] })
    },
  )
})
