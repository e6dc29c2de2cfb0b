import { randomUUID } from 'node:crypto'
import { type CollectedRecord, countRows, FakeClamd, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'

const clamd = new FakeClamd()
let fixture: Fixture
let inbox: TestInbox
let facts: TopicCollection
let messages: TopicCollection

beforeAll(async () => {
  await clamd.start()
  fixture = await openFixture({ CLAMD_URL: clamd.url })
  facts = await fixture.collect('mail.inbound')
  messages = await fixture.collect('mail.messages')
})
afterAll(async () => {
  await fixture.stop()
  await clamd.stop()
})
beforeEach(async () => {
  clamd.conduct = () => ({ answer: 'stream: OK' })
  inbox = await fixture.inbox()
})

interface Outcome {
  readonly type: string
  readonly labels?: string[]
  readonly reason?: string
  readonly attempts?: number
  readonly parsed?: boolean
}

async function send(text = 'Hello'): Promise<void> {
  await sendMail({ port: fixture.smtpPort, from: 'ada@customer.test', to: inbox.address, subject: 'Hi', text })
}

const isOutcome = ({ key, type }: CollectedRecord) => key === inbox.inbox_uid && type !== 'mail.accepted'

async function outcome(): Promise<Outcome> {
  const record = await facts.next(isOutcome, { what: 'the outcome' })
  return { ...JSON.parse(record.value), type: record.type }
}

async function outcomeOf(text?: string): Promise<Outcome> {
  await send(text)
  return outcome()
}

async function scans(name: string): Promise<number> {
  const metrics = await (await fetch(fixture.metricsUrl)).text()
  return Number(new RegExp(`^restante_virus_scans_total{outcome="${name}"} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)
}

const STORED = { type: 'mail.processed', labels: ['received', 'unread'], parsed: true }
describe('the virus scan', () => {
  it('gets the bytes of a mail as they arrived, and lets a clean mail pass', async () => {
    const before = await scans('clean')
    const word = randomUUID()
    expect(await outcomeOf(word)).toMatchObject({ ...STORED, attempts: 1 })
    const stream = clamd.streams.findLast((bytes) => bytes.includes(word))?.toString()
    expect(stream).toMatch(/^From: ada@customer\.test\r\n/)
    expect(stream?.endsWith(`${word}\r\n`)).toBe(true)
    expect(await scans('clean')).toBe(before + 1)
  })

  it('discards a mail with a virus: no message, no public event, and its bytes are deleted', async () => {
    clamd.conduct = () => ({ answer: 'stream: Win.Test.EICAR_HDB-1 FOUND' })
    expect(await outcomeOf()).toMatchObject({ type: 'mail.discarded', reason: 'virus' })
    clamd.conduct = () => ({ answer: 'stream: OK' })
    await send('after it')
    const isReceived = ({ key, type }: { key: string; type: string }) =>
      key === inbox.inbox_uid && type === 'message.received'
    const { value } = await messages.next(isReceived, { what: 'the event of the next mail' })
    expect(JSON.parse(value).message.text).toBe('after it\n')
    const ours = messages.records.filter(({ key, type }) => key === inbox.inbox_uid && type.startsWith('message.'))
    expect(ours.map(({ type }) => type)).toEqual(['message.stored', 'message.received'])
    const unused = () => countRows(fixture.db, 'raw_mails where size > 0 and blob not in (select blob from messages)')
    await waitFor(async () => (await unused()) === 0, { what: 'the bytes to be deleted' })
  })

  it('marks a mail as spam that is suspicious', async () => {
    clamd.conduct = () => ({ answer: 'stream: Heuristics.Phishing.Email.SpoofedDomain FOUND' })
    expect(await outcomeOf()).toMatchObject({ type: 'mail.processed', labels: ['received', 'unread', 'spam'] })
  })

  it('lets a mail pass after three attempts that clamd can not scan', async () => {
    const before = await scans('unscannable')
    const word = randomUUID()
    clamd.conduct = (stream) => (stream.includes(word) ? 'end' : { answer: 'stream: OK' })
    expect(await outcomeOf(word)).toMatchObject({ ...STORED, attempts: 3 })
    expect(await scans('unscannable')).toBe(before + 1)
    expect(clamd.streams.filter((stream) => stream.includes(word))).toHaveLength(3)
  })
})

describe('while clamd is down', () => {
  it('mail waits in the queue, no attempt is counted, and it is scanned afterwards', async () => {
    const before = await scans('unavailable')
    await clamd.stop()
    try {
      await send()
      await waitFor(async () => (await scans('unavailable')) > before, { what: 'clamd to be found unavailable' })
      const uncounted = () => countRows(fixture.db, 'inbound where lane = $1 and attempts = 0', inbox.inbox_uid)
      await waitFor(async () => (await uncounted()) === 1, { what: 'the mail to be back in the queue' })
    } finally {
      clamd.conduct = () => ({ answer: 'stream: Win.Test.EICAR_HDB-1 FOUND' })
      await clamd.start()
    }
    expect(await outcome()).toMatchObject({ type: 'mail.discarded', reason: 'virus' })
  })
})
