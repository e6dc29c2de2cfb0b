import type { ListDirection, Tier } from '@restante/contracts/vocabulary'
import { Correspondence, type Letter, madeId } from '../correspondence.ts'
import { pathOf, sentCopy } from '../mailbox-fixture.ts'
import { ListOwner, scopeOf } from './entries.ts'

const ADA = 'ada@customer.test'
const BO = { from: 'Bo <bo@other.test>', via: 'bo@other.test' }

let post: Correspondence
let owner: ListOwner

beforeAll(async () => {
  post = await Correspondence.open('customer.test', 'sub.customer.test', 'other.test', 'xn--bcher-kva.test')
  owner = new ListOwner(post.fixture)
  post.mailSend.answers['mail-send.findListEntries'] = (request) => owner.find(request)
})
afterAll(async () => {
  await owner.stop()
  await post.close()
})
beforeEach(() => post.openInbox())
afterEach(() => owner.clear())

const add = (tier: Tier, direction: ListDirection, what: string) =>
  owner.add(scopeOf(post.inbox, tier), direction, what)

/** Sends mails one after the other. @returns the events of all that the inbox received */
async function afterSending(...mails: Letter[]) {
  const before = (await post.afterReceiving(0)).length
  for (const [index, mail] of mails.entries()) {
    await post.send({ messageId: madeId(), text: `mail ${before + index}`, ...mail })
    await post.afterReceiving(before + index + 1)
  }
  return (await post.afterReceiving(before + mails.length)).slice(before)
}

/** A message that the inbox has sent, in a thread of its own. @returns its ids */
async function sent() {
  const copy = await sentCopy(post.fixture, post.inbox)
  await post.fixture.peer('mail-ingest.placeSent', copy)
  return { id: copy.message_id, thread: copy.thread_id }
}

const BLOCKED = {
  event_type: 'message.received.blocked',
  message: { labels: ['received', 'unread', 'blocked'] },
}
const RECEIVED = { event_type: 'message.received', message: { labels: ['received', 'unread'] } }

describe('a mail that answers what the inbox has sent', () => {
  it('is judged by the reply lists alone', async () => {
    const { id, thread } = await sent()
    await add('inbox', 'receive', `block ${ADA}`)
    await add('inbox', 'receive', 'allow nobody@else.test')
    await add('inbox', 'reply', 'block other.test')
    const [ada, bo, again] = await afterSending({ inReplyTo: id }, { ...BO, inReplyTo: id }, { references: [id] })
    expect(ada).toMatchObject(RECEIVED)
    expect(bo).toMatchObject(BLOCKED)
    expect(again).toMatchObject(RECEIVED)
    expect([ada, again].map(({ message }) => message.thread_id)).toEqual([thread, thread])
    // Blocked mail joins no thread that is free of such labels.
    expect(bo.message.thread_id).not.toBe(thread)
  })

  it('is blocked by a reply allow list that names others', async () => {
    const { id } = await sent()
    await add('organization', 'reply', 'allow other.test')
    const [ada, bo, fresh] = await afterSending({ inReplyTo: id }, { ...BO, inReplyTo: id }, {})
    expect(ada).toMatchObject(BLOCKED)
    expect(bo).toMatchObject(RECEIVED)
    expect(fresh).toMatchObject(RECEIVED)
  })

  it('counts as an answer if it names another mail of the thread', async () => {
    const { id, thread } = await sent()
    const answer = madeId()
    await afterSending({ inReplyTo: id, messageId: answer })
    await add('inbox', 'receive', 'block other.test')
    const [bo] = await afterSending({ ...BO, inReplyTo: answer })
    expect(bo).toMatchObject({ ...RECEIVED, message: { thread_id: thread } })
  })

  it('counts as an answer whatever the labels of the thread and of the mail are', async () => {
    const { id, thread } = await sent()
    await post.fixture.call(post.inbox.caller, 'messages.update', 'PATCH', pathOf(id), { add_labels: ['trash'] })
    await add('inbox', 'receive', `block ${ADA}`)
    const [ada, forged] = await afterSending({ inReplyTo: id }, { inReplyTo: id, via: 'eve@evil.test' })
    expect(ada).toMatchObject(RECEIVED)
    expect(forged.message.labels).toEqual(['received', 'unread', 'unauthenticated'])
    expect([ada, forged].map(({ message }) => message.thread_id)).not.toContain(thread)
  })

  it('counts as an answer if it names an id that another answer in the thread has named', async () => {
    const { id, thread } = await sent()
    const [ticket, answer] = [madeId(), madeId()]
    // The id of the ticket is remembered with a thread, in which the inbox then answers.
    const [question] = await afterSending({ inReplyTo: ticket, messageId: answer })
    const reply = await sentCopy(post.fixture, post.inbox, {
      thread_id: question.message.thread_id,
      in_reply_to: answer,
    })
    await post.fixture.peer('mail-ingest.placeSent', reply)
    await add('inbox', 'receive', `block ${ADA}`)
    const [next, unrelated] = await afterSending({ inReplyTo: ticket }, { inReplyTo: madeId() })
    expect(next).toMatchObject({ ...RECEIVED, message: { thread_id: question.message.thread_id } })
    expect(unrelated).toMatchObject(BLOCKED)
    expect([thread, id]).not.toContain(next.message.thread_id)
  })

  it('counts as an answer where one transaction stores it with another answer that it names', async () => {
    const { id, thread } = await sent()
    await add('inbox', 'receive', 'block other.test')
    const answer = madeId()
    await post.together({ inReplyTo: id, messageId: answer, text: 'one' }, { ...BO, inReplyTo: answer, text: 'two' })
    const [, one, two] = await post.afterReceiving(3)
    expect([one, two].map(({ message }) => message.thread_id)).toEqual([thread, thread])
  })

  it('does not count as one where the inbox has not sent in the thread', async () => {
    await sent()
    const question = madeId()
    await afterSending({ messageId: question })
    await add('inbox', 'receive', 'block other.test')
    const [bo] = await afterSending({ ...BO, inReplyTo: question })
    expect(bo).toMatchObject(BLOCKED)
  })
})

describe('a blocked mail', () => {
  it('is not the original of the same mail when that is no longer blocked', async () => {
    const mail = { messageId: madeId(), text: 'the same' }
    const entry = await add('inbox', 'receive', `block ${ADA}`)
    await afterSending(mail)
    await owner.remove(entry)
    const [again] = await afterSending(mail)
    expect(again).toMatchObject(RECEIVED)
    expect(await post.afterEnding(2)).toEqual(['stored', 'stored'])
  })

  it('joins other blocked mail, and remembers no ids for mail that is not', async () => {
    const ticket = madeId()
    const first = madeId()
    const entry = await add('inbox', 'receive', `block ${ADA}`)
    const [one, two] = await afterSending({ messageId: first, inReplyTo: ticket }, { inReplyTo: first })
    expect(two.message.thread_id).toBe(one.message.thread_id)
    await owner.remove(entry)
    const [three, four] = await afterSending({ inReplyTo: ticket }, { inReplyTo: first })
    for (const { message } of [three, four]) expect(message.thread_id).not.toBe(one.message.thread_id)
  })
})
