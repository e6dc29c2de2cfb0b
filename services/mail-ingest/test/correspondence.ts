import { randomUUID } from 'node:crypto'
import { countRows, DnsZone, type Submission, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { lockMailbox } from '../src/mailbox/lock.ts'
import { type Fixture, openFixture, type TestInbox } from './fixture.ts'
import { holding } from './locks.ts'
import { type FakeMailSend, startFakeMailSend } from './peers/fake-mail-send.ts'

export interface Letter extends Omit<Submission, 'port'> {
  /** The sender that SPF is checked for: one of another domain than the author's makes the mail unauthenticated. */
  readonly via?: string
}

export const madeId = (domain = 'customer.test') => `<${randomUUID()}@${domain}>`

/** Mail from domains whose SPF records name this host, and from others; each test has an inbox of its own. */
export class Correspondence {
  readonly fixture: Fixture
  /** Answers nothing by itself. */
  readonly mailSend: FakeMailSend
  readonly #zone: DnsZone
  readonly #messages: TopicCollection
  readonly #facts: TopicCollection
  #inbox: TestInbox | undefined

  private constructor(
    fixture: Fixture,
    mailSend: FakeMailSend,
    zone: DnsZone,
    messages: TopicCollection,
    facts: TopicCollection,
  ) {
    this.fixture = fixture
    this.mailSend = mailSend
    this.#zone = zone
    this.#messages = messages
    this.#facts = facts
  }

  static async open(...domains: string[]): Promise<Correspondence> {
    const zone = await new DnsZone().start()
    for (const domain of domains) zone.set(domain, { type: 'TXT', data: 'v=spf1 ip4:127.0.0.1 -all' })
    const mailSend = await startFakeMailSend()
    const fixture = await openFixture({
      SENDER_AUTH: 'dns',
      DNS_SERVERS: zone.address,
      MAIL_SEND_URL: mailSend.url,
    })
    return new Correspondence(
      fixture,
      mailSend,
      zone,
      await fixture.collect('mail.messages'),
      await fixture.collect('mail.inbound'),
    )
  }

  async close(): Promise<void> {
    await this.fixture.stop()
    await Promise.all([this.#zone.stop(), this.mailSend.stop()])
  }

  get inbox(): TestInbox {
    if (this.#inbox === undefined) throw new Error('an inbox is opened first')
    return this.#inbox
  }

  async openInbox(): Promise<void> {
    this.#inbox = await this.fixture.inbox()
  }

  async send({ via = 'ada@customer.test', ...mail }: Letter): Promise<void> {
    await sendMail({
      port: this.fixture.smtpPort,
      from: 'Ada <ada@customer.test>',
      to: this.inbox.address,
      subject: 'Offer',
      text: 'An offer.\n',
      envelope: { from: via, to: this.inbox.address },
      ...mail,
    })
  }

  /** The received events of the inbox once there are so many, oldest first. */
  afterReceiving(count: number) {
    const received = () =>
      this.#messages.records
        .filter(({ key, type }) => key === this.inbox.inbox_uid && type.startsWith('message.received'))
        .map(({ value }) => JSON.parse(value))
    return waitFor(() => received().length >= count && received(), { what: `${count} received events` })
  }

  /** How the mails of the inbox ended, once so many have: stored, or why not. */
  afterEnding(count: number): Promise<string[]> {
    const endings = () =>
      this.#facts.records
        .filter(({ key, type }) => key === this.inbox.inbox_uid && ['mail.discarded', 'mail.processed'].includes(type))
        .map(({ value }) => JSON.parse(value).reason ?? 'stored')
    return waitFor(() => endings().length >= count && endings(), { what: `${count} mails` })
  }

  /** Sends mails so that one transaction stores all of them, after one that is ahead of them. */
  async together(...mails: Letter[]): Promise<void> {
    const { db } = this.fixture
    const { inbox_uid } = this.inbox
    await holding(db, async (tx) => {
      await lockMailbox(tx, inbox_uid)
      // The first is taken and waits for the lock; what comes meanwhile is taken together.
      await this.send({ messageId: madeId(), text: 'ahead of the others' })
      const taken = async () => (await countRows(db, 'inbound where lane = $1 and attempts = 1', inbox_uid)) === 1
      await waitFor(taken, { what: 'the first mail to be taken' })
      for (const mail of mails) await this.send(mail)
    })
  }

  /** The threads that the default list shows, newest first. */
  async threads(): Promise<string[]> {
    const { body } = await this.fixture.call(this.inbox.caller, 'threads.list', 'GET', '/threads')
    return body.threads.map(({ thread_id }) => thread_id)
  }
}
