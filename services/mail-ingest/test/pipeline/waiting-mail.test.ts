import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import {
  countRows,
  DnsZone,
  queryRows,
  type Submission,
  sendMail,
  type TopicCollection,
  waitFor,
} from '@restante/testkit'
import { DnsCache } from '../../src/sender/dns/dns-cache.ts'
import { WaitingMailRecheck } from '../../src/waiting/recheck.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  // Its record fits into one TXT string.
  modulusLength: 1024,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const txt = (data: string) => ({ type: 'TXT' as const, data })
const key = txt(`v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`)
const signedBy = (domainName: string) => ({ domainName, keySelector: 's1', privateKey })

const DUE_NOW = sql<never, [inboxUid: string]>(
  'update waiting_mails set due_at = now(), times = 0 where inbox_uid = $1',
)
const LAST_TIME = sql<never, [inboxUid: string]>(
  'update waiting_mails set due_at = now(), times = 4 where inbox_uid = $1',
)
const FILL = sql<never, [inboxUid: string, rows: number]>(`
insert into waiting_mails (id, organization_id, pod_id, inbox_uid, inbox_address, recipient, blob, size, envelope, received_at,
                           since, times, due_at, domain, questions, verdict)
select gen_random_uuid(), $1::uuid, $1::uuid, $1::uuid, 'a@b.test', 'a@b.test', 'none', 1, '{}', now(), now(), 0,
       now() + interval '1 hour', 'filler.test', '[]', '{}'
  from generate_series(1, $2::int)`)

let fixture: Fixture
let zone: DnsZone
let inbox: TestInbox
let messages: TopicCollection
let facts: TopicCollection
/** A domain of its own for each test, so that no failure is remembered. */
let domain: string

beforeAll(async () => {
  zone = await new DnsZone().start()
  zone.set('spf.test', txt('v=spf1 ip4:127.0.0.1 -all'))
  fixture = await openFixture({ SENDER_AUTH: 'dns', DNS_SERVERS: zone.address })
  messages = await fixture.collect('mail.messages')
  facts = await fixture.collect('mail.inbound')
})
afterAll(async () => {
  await fixture.stop()
  await zone.stop()
})
beforeEach(async () => {
  inbox = await fixture.inbox()
  domain = `d${randomUUID().slice(0, 8)}.test`
  zone.set(`_dmarc.${domain}`, txt('v=DMARC1; p=reject'))
  zone.set(domain, txt('v=spf1 -all'))
  zone.set(`s1._domainkey.${domain}`, key)
})

const send = (mail: Omit<Submission, 'port'> = {}) =>
  sendMail({
    port: fixture.smtpPort,
    from: `ada@${domain}`,
    to: inbox.address,
    text: 'Hello',
    subject: 'Hi',
    dkim: signedBy(domain),
    ...mail,
  })
interface WaitingRow {
  readonly blob: string
  readonly domain: string
  readonly since: Date
  readonly times: number
  readonly due_at: Date
}
const waitingRows = () =>
  queryRows<WaitingRow>(fixture.db, 'select * from waiting_mails where inbox_uid = $1', inbox.inbox_uid)
const untilItWaits = () =>
  waitFor(
    async () => {
      const [row] = await waitingRows()
      return row
    },
    { what: 'the mail to wait' },
  )
async function received(subject = 'Hi') {
  const event = await messages.next(
    ({ key: uid, type, value }) =>
      uid === inbox.inbox_uid && type.startsWith('message.received') && JSON.parse(value).message.subject === subject,
    { what: 'the received event' },
  )
  return { type: event.type, message: JSON.parse(event.value).message }
}
const reasonOfDiscard = async () =>
  JSON.parse(
    (
      await facts.next(({ key: uid, type }) => uid === inbox.inbox_uid && type === 'mail.discarded', {
        what: 'the discard',
      })
    ).value,
  ).reason
async function metric(name: string): Promise<number> {
  const metrics = await (await fetch(fixture.metricsUrl)).text()
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(metrics)?.[1])
}

describe('a temporary error of DNS', () => {
  it('lets a mail wait, holds up no other mail of the inbox, and costs nothing when it is over', async () => {
    zone.fail(`s1._domainkey.${domain}`)
    await send({ subject: 'first' })
    const row = await untilItWaits()
    expect(row).toMatchObject({ times: 0, domain, questions: [{ name: `s1._domainkey.${domain}`, type: 'TXT' }] })
    await waitFor(async () => (await metric('restante_mail_waiting')) > 0, { what: 'the metric' })
    await send({ subject: 'second', from: 'ada@spf.test' })
    await received('second')
    expect(await countRows(fixture.db, 'inbound where inbox_uid = $1', inbox.inbox_uid)).toBe(0)
    expect(await queryRows(fixture.db, 'select refs from raw_mails where blob = $1', row.blob)).toEqual([{ refs: 1 }])

    zone.set(`s1._domainkey.${domain}`, key)
    // The failure is remembered for a moment.
    await waitFor(
      async () => {
        await fixture.db.query(DUE_NOW, inbox.inbox_uid)
        return (await waitingRows()).length === 0
      },
      { what: 'the answer' },
    )
    const { type, message } = await received('first')
    expect(type).toBe('message.received')
    expect(message).toMatchObject({
      subject: 'first',
      authentication: { verdict: 'pass', dkim: 'pass', dmarc: 'pass' },
    })
  })

  const foreign = { envelope: { from: 'eve@foreign.test' } }
  it.each<[string, (of: string) => void, (of: string) => Omit<Submission, 'port'>]>([
    ['a key that is not answered', (of) => zone.silence(`s1._domainkey.${of}`), () => ({})],
    ['the policy', (of) => zone.fail(`_dmarc.${of}`), () => ({ dkim: undefined })],
    ['the policy that is not answered', (of) => zone.silence(`_dmarc.${of}`), () => ({ dkim: undefined })],
    ['SPF of an aligned return path', (of) => zone.fail(of), () => ({ dkim: undefined })],
    [
      'SPF that another domain is asked for',
      (of) => zone.set(of, txt('v=spf1 include:broken.test -all')).fail('broken.test'),
      () => ({ dkim: undefined }),
    ],
  ])('counts when it is about %s', async (_what, breakIt, mail) => {
    breakIt(domain)
    const more = mail(domain)
    await send({ ...more, ...('dkim' in more && { dkim: signedBy('nobody.test') }) })
    expect((await untilItWaits()).domain).toBe(domain)
  })

  it.each<[string, () => void, Omit<Submission, 'port'>]>([
    ['the key of another domain', () => zone.fail('s1._domainkey.foreign.test'), { dkim: signedBy('foreign.test') }],
    ['SPF of another return path', () => zone.fail('foreign.test'), { dkim: signedBy('nobody.test'), ...foreign }],
    [
      'the slow servers of a forger',
      () => zone.silence('silent.test').silence('s1._domainkey.silent.test'),
      { dkim: signedBy('silent.test'), envelope: { from: 'eve@silent.test' } },
    ],
  ])('does not count when it is about %s: the forgery is discarded', async (_what, breakIt, mail) => {
    breakIt()
    const { envelope } = mail
    await send({ ...mail, ...(envelope && { envelope: { ...envelope, to: inbox.address } }) })
    expect(await reasonOfDiscard()).toBe('dmarc')
    expect(await waitingRows()).toEqual([])
  })

  it('that lasts for an hour leaves the mail unauthenticated, with what is known', async () => {
    zone.fail(`s1._domainkey.${domain}`)
    await send()
    await untilItWaits()
    await fixture.db.query(LAST_TIME, inbox.inbox_uid)
    const { type, message } = await received()
    expect(type).toBe('message.received.unauthenticated')
    expect(message.authentication).toMatchObject({ verdict: 'none', dkim: 'temperror', dmarc: 'temperror' })
    expect(message.headers['Authentication-Results']).toContain('dmarc=temperror')
    expect(await waitingRows()).toEqual([])
  })

  it('is asked about five times within the hour', async () => {
    zone.fail(`s1._domainkey.${domain}`)
    await send()
    const { since } = await untilItWaits()
    const minutes: number[] = []
    for (let times = 0; times < 4; times++) {
      const due = await waitFor(
        async () => {
          const [row] = await waitingRows()
          return row?.times === times && row.due_at
        },
        { what: `try ${times}` },
      )
      minutes.push((due.getTime() - since.getTime()) / 60_000)
      await queryRows(
        fixture.db,
        'update waiting_mails set due_at = $2 where inbox_uid = $1',
        inbox.inbox_uid,
        new Date(0),
      )
    }
    expect(minutes).toEqual([0.5, 3, 10, 30])
  })
})

describe('a mail is stored as unauthenticated at once', () => {
  afterEach(() => fixture.db.query(sql(`delete from waiting_mails where domain = 'filler.test'`)))

  const storedAtOnce = async () => {
    zone.fail(`s1._domainkey.${domain}`)
    await send()
    const { type } = await received()
    expect(type).toBe('message.received.unauthenticated')
    expect(await countRows(fixture.db, 'waiting_mails where domain = $1', domain)).toBe(0)
  }

  it('when 100 mails of its inbox wait', async () => {
    await fixture.db.query(FILL, inbox.inbox_uid, 100)
    await storedAtOnce()
  })

  it('when 10,000 mails wait', async () => {
    await fixture.db.query(FILL, randomUUID(), 10_000)
    await storedAtOnce()
  })

  it('when its domain has failed for an hour, until the domain answers', async () => {
    const anHourAgo = new Date(Date.now() - 3_700_000)
    await queryRows(
      fixture.db,
      'insert into failing_domains (domain, since, seen_at) values ($1, $2, $3)',
      domain,
      anHourAgo,
      new Date(),
    )
    await storedAtOnce()
    zone.set(`s1._domainkey.${domain}`, key)
    // The failure is remembered for a moment.
    await waitFor(
      async () => {
        const subject = randomUUID()
        await send({ subject })
        return (await received(subject)).type === 'message.received'
      },
      { what: 'a pass' },
    )
    await waitFor(async () => (await countRows(fixture.db, 'failing_domains where domain = $1', domain)) === 0, {
      what: 'the end of the failure',
    })
  })
})

describe('mails that wait', () => {
  it('go with their inbox, and their bytes', async () => {
    zone.fail(`s1._domainkey.${domain}`)
    await send()
    const { blob } = await untilItWaits()
    await fixture.deleteInbox(inbox)
    expect(await reasonOfDiscard()).toBe('inbox_deleted')
    await waitFor(async () => (await countRows(fixture.db, 'raw_mails where blob = $1', blob)) === 0, {
      what: 'the sweep',
    })
    expect(await waitingRows()).toEqual([])
  })

  it('return once, whoever asks for them at the same time', async () => {
    zone.fail(`s1._domainkey.${domain}`)
    await send()
    await untilItWaits()
    zone.set(`s1._domainkey.${domain}`, key)
    const others = Array.from({ length: 4 }, () => {
      const log = createLogger({ service: 'test', level: 'silent' })
      return new WaitingMailRecheck({ db: fixture.db, dns: new DnsCache([zone.address]), log, notify: () => {} })
    })
    // The failure is remembered for a moment by the pipeline.
    await waitFor(
      async () => {
        await fixture.db.query(DUE_NOW, inbox.inbox_uid)
        await Promise.all(others.map((each) => each.recheck()))
        return (await countRows(fixture.db, 'messages where inbox_uid = $1', inbox.inbox_uid)) > 0
      },
      { what: 'the message' },
    )
    await waitFor(async () => (await countRows(fixture.db, 'inbound')) === 0, { what: 'an empty queue' })
    expect(await countRows(fixture.db, 'messages where inbox_uid = $1', inbox.inbox_uid)).toBe(1)
  })
})
