import { randomUUID } from 'node:crypto'
import { DnsZone, type Submission, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { lockMailbox } from '../src/mailbox/lock.ts'
import { pathOf, sentCopy } from './mailbox-fixture.ts'
import { openStage, type Stage, type TestInbox } from './stage.ts'

/** One sign of spam: with a missing date and an address for a name it is one. */
const BODY = 'You have won: nobody.\n'
const SPAM = { from: '"ceo@bank.test" <ada@customer.test>', headers: { Date: 'never' } }

let stage: Stage
let zone: DnsZone
let inbox: TestInbox
let messages: TopicCollection
let facts: TopicCollection

beforeAll(async () => {
  const spf = { type: 'TXT' as const, data: 'v=spf1 ip4:127.0.0.1 -all' }
  zone = await new DnsZone().start()
  zone.set('customer.test', spf).set('list.test', spf)
  stage = await openStage({ SENDER_AUTH: 'dns', DNS_SERVERS: zone.address })
  messages = await stage.collect('mail.messages')
  facts = await stage.collect('mail.inbound')
}, 60_000)
afterAll(async () => {
  await stage.stop()
  await zone.stop()
}, 30_000)
beforeEach(async () => {
  inbox = await stage.inbox()
})

interface Copy extends Omit<Submission, 'port'> {
  /** The sender whom SPF is asked about: of another domain than the author's, the mail is unauthenticated. */
  readonly via?: string
}

const send = ({ via = 'ada@customer.test', ...mail }: Copy) =>
  sendMail({
    port: stage.smtpPort,
    from: 'Ada <ada@customer.test>',
    to: inbox.address,
    subject: 'Offer',
    text: BODY,
    envelope: { from: via, to: inbox.address },
    ...mail,
  })

const received = () =>
  messages.records
    .filter(({ key, type }) => key === inbox.inbox_uid && type.startsWith('message.received'))
    .map(({ value }) => JSON.parse(value))
const afterReceiving = (count: number) =>
  waitFor(() => received().length >= count && received(), { what: `${count} received events` })
const endings = () =>
  facts.records
    .filter(({ key, type }) => key === inbox.inbox_uid && ['mail.discarded', 'mail.processed'].includes(type))
    .map(({ value }) => JSON.parse(value).reason ?? 'stored')
const afterEnding = (count: number) => waitFor(() => endings().length >= count && endings(), { what: `${count} mails` })
const restricted = (labels: readonly string[]) => labels.filter((label) => !['received', 'unread'].includes(label))
const threads = async (query = '') =>
  (await stage.call(inbox.caller, 'threads.list', 'GET', `/threads${query}`)).body.threads.map(
    ({ thread_id }) => thread_id,
  )
const id = () => `<${randomUUID()}@customer.test>`

/** Sends mails so that one transaction stores all of them. */
async function together(...mails: Copy[]): Promise<void> {
  await stage.db.transaction(async (tx) => {
    await lockMailbox(tx, inbox.inbox_uid)
    // The first is taken and waits for the lock; what comes meanwhile is taken together.
    await send({ messageId: id(), text: 'ahead of the others' })
    await waitFor(() => stage.db.orm.inbound.count({ where: { lane: inbox.inbox_uid, attempts: 1 } }), {
      what: 'the first mail to be taken',
    })
    for (const mail of mails) await send(mail)
  })
  await afterEnding(mails.length + 1)
}

describe('a copy of a mail that came first', () => {
  it.each<[string, Copy, string[]]>([
    ['spam', SPAM, ['spam']],
    ['unauthenticated', { via: 'eve@evil.test' }, ['unauthenticated']],
    ['spam and unauthenticated', { ...SPAM, via: 'eve@evil.test' }, ['spam', 'unauthenticated']],
  ])('and was %s does not keep the genuine mail out, nor does that join its thread', async (_what, copy, labels) => {
    const messageId = id()
    await send({ messageId, ...copy })
    await send({ messageId })
    await send({ messageId })
    expect(await afterEnding(3)).toEqual(['stored', 'stored', 'duplicate'])
    const [forged, genuine] = await afterReceiving(2)
    expect(restricted(forged.message.labels)).toEqual(labels)
    expect(genuine.message).toMatchObject({ labels: ['received', 'unread'], text: BODY })
    expect(genuine.message.message_id).toMatch(/^<[0-9a-f-]{36}@mail\.test>$/)
    expect(genuine.message.headers['Message-ID']).toBe(messageId)
    expect(await threads()).toEqual([genuine.message.thread_id])
  })

  it('does not keep the genuine mail out when both are stored by one transaction, whichever is ahead', async () => {
    const [first, second] = [id(), id()]
    const forged = { via: 'eve@evil.test' }
    await together(
      { messageId: first, ...forged },
      { messageId: first },
      { messageId: second },
      {
        messageId: second,
        ...forged,
      },
    )
    expect(endings()).toEqual(['stored', 'stored', 'stored', 'stored', 'duplicate'])
    const shown = await threads()
    expect(shown).toHaveLength(3)
  })

  it.each<[string, Copy]>([
    ['with another attachment', { attachments: [{ filename: 'offer.txt', content: 'other' }] }],
    ['by another author', { from: 'Eve <eve@customer.test>' }],
  ])('%s is another mail', async (_how, copy) => {
    const messageId = id()
    const attachments = [{ filename: 'offer.txt', content: 'genuine' }]
    await send({ messageId, attachments, ...copy })
    await send({ messageId, attachments })
    expect(await afterEnding(2)).toEqual(['stored', 'stored'])
  })

  it('is the same mail whatever its reader made of it: label edits decide nothing about later copies', async () => {
    const messageId = id()
    await send({ messageId })
    await afterReceiving(1)
    const update = (labels: object) => stage.call(inbox.caller, 'messages.update', 'PATCH', pathOf(messageId), labels)
    await update({ add_labels: ['trash', 'blocked', 'spam'] })
    await send({ messageId })
    expect(await afterEnding(2)).toEqual(['stored', 'duplicate'])
  })

  it('that was forged stays another mail when its reader frees it of the label', async () => {
    const messageId = id()
    await send({ messageId, via: 'eve@evil.test' })
    await afterReceiving(1)
    await stage.call(inbox.caller, 'messages.update', 'PATCH', pathOf(messageId), {
      remove_labels: ['unauthenticated'],
    })
    await send({ messageId })
    expect(await afterEnding(2)).toEqual(['stored', 'stored'])
  })

  it('is discarded when it comes after the genuine mail', async () => {
    const messageId = id()
    await send({ messageId })
    await send({ messageId, via: 'eve@evil.test' })
    expect(await afterEnding(2)).toEqual(['stored', 'duplicate'])
  })
})

describe('a list copy and a direct copy of one mail', () => {
  it('are one thread, though the footer makes them two mails', async () => {
    const messageId = id()
    await send({ messageId })
    await send({ messageId, text: `${BODY}-- \nThe list of customers\n` })
    const [direct, list] = await afterReceiving(2)
    expect(list.message.thread_id).toBe(direct.message.thread_id)
    expect(list.message.message_id).not.toBe(messageId)
    expect(await threads()).toEqual([direct.message.thread_id])
  })

  it('go where the reply headers say, when these name a message', async () => {
    const [asked, messageId] = [id(), id()]
    await send({ messageId, text: 'direct' })
    await send({ messageId: asked, text: 'question' })
    await send({ messageId, inReplyTo: asked, text: 'by the list' })
    const [, question, list] = await afterReceiving(3)
    expect(list.message.thread_id).toBe(question.message.thread_id)
  })
})

describe('a conversation', () => {
  it.each<[string, Copy]>([
    ['unauthenticated', { via: 'eve@evil.test', from: 'Eve <eve@evil.test>' }],
    ['forged', { via: 'eve@evil.test' }],
    ['spam', SPAM],
  ])('is not hidden by %s mail that names its ids, which has a thread of its own', async (_what, forged) => {
    const [first, second, third] = [id(), id(), id()]
    await send({ messageId: first })
    await send({ messageId: second, inReplyTo: first, references: [first], ...forged })
    await send({ messageId: third, inReplyTo: second, references: [first, second], text: 'goes on' })
    await send({ inReplyTo: second, references: [first, second], ...forged, subject: 'again' })
    const [genuine, attack, answer, again] = await afterReceiving(4)
    expect(attack.message.thread_id).not.toBe(genuine.message.thread_id)
    expect(answer.message.thread_id).toBe(genuine.message.thread_id)
    expect(again.message.thread_id).toBe(attack.message.thread_id)
    expect(await threads()).toEqual([genuine.message.thread_id])
    const limited = { ...inbox.caller, credential: { ...inbox.caller.credential, permissions: [] } }
    const path = `/threads/${genuine.message.thread_id}`
    expect((await stage.call(limited, 'threads.get', 'GET', path)).status).toBe(200)
  })

  it('is not split by forged mail that is stored in the same transaction', async () => {
    const [first, second] = [id(), id()]
    const forged = { via: 'eve@evil.test', inReplyTo: first }
    await together({ messageId: first }, { messageId: second, ...forged }, { inReplyTo: second, references: [first] })
    const [, genuine, attack, answer] = await afterReceiving(4)
    expect(attack.message.thread_id).not.toBe(genuine.message.thread_id)
    expect(answer.message.thread_id).toBe(genuine.message.thread_id)
  })

  it('is continued by answers to an id that a forger has used ahead of it', async () => {
    const messageId = id()
    for (let copy = 0; copy < 25; copy++) await send({ messageId, via: 'eve@evil.test', text: `forged ${copy}` })
    await send({ messageId })
    await send({ inReplyTo: messageId, text: 'the answer' })
    const events = await afterReceiving(27)
    const [genuine, answer] = events.slice(-2)
    expect(answer.message.thread_id).toBe(genuine.message.thread_id)
    expect(new Set(events.slice(0, 25).map(({ message }) => message.thread_id)).size).toBe(1)
  })

  it('in the trash gets no further mail, which starts another; both stay as they are when it is taken out', async () => {
    const first = id()
    await send({ messageId: first })
    await afterReceiving(1)
    await stage.call(inbox.caller, 'messages.update', 'PATCH', pathOf(first), { add_labels: ['trash'] })
    await send({ inReplyTo: first, text: 'after that' })
    const [trashed, later] = await afterReceiving(2)
    expect(later.message.thread_id).not.toBe(trashed.message.thread_id)
    await stage.call(inbox.caller, 'messages.update', 'PATCH', pathOf(first), { remove_labels: ['trash'] })
    expect(new Set(await threads())).toEqual(new Set([trashed.message.thread_id, later.message.thread_id]))
  })
})

describe('of several messages that carry an id', () => {
  it('our own sent one decides which thread an answer joins', async () => {
    const copy = await sentCopy(stage, inbox)
    await stage.peer('mail-ingest.placeSent', copy)
    const question = id()
    await send({ messageId: question, text: 'another thread' })
    // Back from a list with another body: it goes where its own header says.
    await send({ messageId: copy.message_id, inReplyTo: question, text: 'Our offer, and a footer' })
    await send({ inReplyTo: copy.message_id, text: 'thanks' })
    const [other, back, answer] = await afterReceiving(3)
    expect(back.message.thread_id).toBe(other.message.thread_id)
    expect(answer.message.thread_id).toBe(copy.thread_id)
  })

  it('one of the author of the answer decides, or else the oldest', async () => {
    const [shared, question] = [id(), id()]
    const list = { messageId: shared, via: 'bounce@list.test' }
    await send({ ...list, from: 'List <list@list.test>', text: 'to all' })
    await send({ messageId: question, text: 'another thread' })
    await send({
      ...list,
      from: 'List <list@list.test>',
      cc: 'Bo <bo@customer.test>',
      inReplyTo: question,
      text: 'to Bo',
    })
    await send({ inReplyTo: shared, from: 'Bo B. <BO@customer.test>', text: 'by Bo' })
    await send({ inReplyTo: shared, from: 'Cy <cy@customer.test>', text: 'by Cy' })
    const [toAll, , toBo, byBo, byCy] = await afterReceiving(5)
    expect(toBo.message.thread_id).not.toBe(toAll.message.thread_id)
    expect(byBo.message.thread_id).toBe(toBo.message.thread_id)
    expect(byCy.message.thread_id).toBe(toAll.message.thread_id)
  })
})

describe('an id of the form of ours', () => {
  it('is not taken by a received mail while it cannot be found out whether the inbox sent it', async () => {
    const copy = await sentCopy(stage, inbox)
    await send({ messageId: copy.message_id, from: 'Eve <eve@evil.test>', via: 'eve@evil.test' })
    const [forged] = await afterReceiving(1)
    expect(forged.message.message_id).not.toBe(copy.message_id)
    await stage.peer('mail-ingest.placeSent', copy)
    const { body } = await stage.call(inbox.caller, 'messages.get', 'GET', pathOf(copy.message_id))
    expect(body).toMatchObject({ thread_id: copy.thread_id, labels: ['sent', 'campaign'] })
  })
})
