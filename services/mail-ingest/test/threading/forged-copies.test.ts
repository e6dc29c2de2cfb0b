import { Correspondence, madeId as id, type Letter } from '../correspondence.ts'
import { pathOf, sentCopy } from '../mailbox-fixture.ts'

/** One sign of spam: with a missing date and an address for a name it is one. */
const BODY = 'You have won: nobody.\n'
const SPAM = { from: '"ceo@bank.test" <ada@customer.test>', headers: { Date: 'never' } }

let post: Correspondence

beforeAll(async () => {
  post = await Correspondence.open('customer.test', 'list.test')
})
afterAll(() => post.close())
beforeEach(() => post.openInbox())

const send = (mail: Letter) => post.send({ text: BODY, ...mail })
const afterReceiving = (count: number) => post.afterReceiving(count)
const afterEnding = (count: number) => post.afterEnding(count)
const threads = () => post.threads()
const restricted = (labels: readonly string[]) => labels.filter((label) => !['received', 'unread'].includes(label))
const update = (messageId: string, change: object) =>
  post.fixture.call(post.inbox.caller, 'messages.update', 'PATCH', pathOf(messageId), change)

describe('a copy of a mail that arrived first', () => {
  it.each<[string, Letter, string[]]>([
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

  it('does not keep the genuine mail out when one transaction stores both, in either order', async () => {
    const [first, second] = [id(), id()]
    const forged = { via: 'eve@evil.test' }
    await post.together(
      { messageId: first, ...forged },
      { messageId: first },
      { messageId: second },
      {
        messageId: second,
        ...forged,
      },
    )
    expect(await afterEnding(5)).toEqual(['stored', 'stored', 'stored', 'stored', 'duplicate'])
    const shown = await threads()
    expect(shown).toHaveLength(3)
  })

  it.each<[string, Letter]>([
    ['with another Reply-To', { replyTo: 'eve@evil.test' }],
    ['with another subject', { subject: 'Another offer' }],
    ['with another attachment', { attachments: [{ filename: 'offer.txt', content: 'other' }] }],
    ['by another author', { from: 'Eve <eve@customer.test>' }],
  ])('%s is another mail', async (_how, copy) => {
    const messageId = id()
    const attachments = [{ filename: 'offer.txt', content: 'genuine' }]
    await send({ messageId, attachments, ...copy })
    await send({ messageId, attachments })
    expect(await afterEnding(2)).toEqual(['stored', 'stored'])
  })

  it('is the same mail whatever labels its reader has set since', async () => {
    const messageId = id()
    await send({ messageId })
    await afterReceiving(1)
    const update = (labels: object) =>
      post.fixture.call(post.inbox.caller, 'messages.update', 'PATCH', pathOf(messageId), labels)
    await update({ add_labels: ['trash', 'blocked', 'spam'] })
    await send({ messageId })
    expect(await afterEnding(2)).toEqual(['stored', 'duplicate'])
  })

  it('that was forged stays a different mail when its reader removes the label', async () => {
    const messageId = id()
    await send({ messageId, via: 'eve@evil.test' })
    await afterReceiving(1)
    await update(messageId, { remove_labels: ['unauthenticated'] })
    await send({ messageId })
    expect(await afterEnding(2)).toEqual(['stored', 'stored'])
  })

  it('is discarded when it arrives after the genuine mail', async () => {
    const messageId = id()
    await send({ messageId })
    await send({ messageId, via: 'eve@evil.test' })
    expect(await afterEnding(2)).toEqual(['stored', 'duplicate'])
  })
})

describe('a list copy and a direct copy of one mail', () => {
  it('are in one thread, though the footer makes them two mails', async () => {
    const messageId = id()
    await send({ messageId })
    await send({ messageId, text: `${BODY}-- \nThe list of customers\n` })
    const [direct, list] = await afterReceiving(2)
    expect(list.message.thread_id).toBe(direct.message.thread_id)
    expect(list.message.message_id).not.toBe(messageId)
    expect(await threads()).toEqual([direct.message.thread_id])
  })

  it('join the thread of their reply headers, when these name a message', async () => {
    const [asked, messageId] = [id(), id()]
    await send({ messageId, text: 'direct' })
    await send({ messageId: asked, text: 'question' })
    await send({ messageId, inReplyTo: asked, text: 'by the list' })
    const [, question, list] = await afterReceiving(3)
    expect(list.message.thread_id).toBe(question.message.thread_id)
  })
})

describe('a conversation', () => {
  it.each<[string, Letter]>([
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
    const { caller } = post.inbox
    const limited = { ...caller, credential: { ...caller.credential, permissions: [] } }
    const path = `/threads/${genuine.message.thread_id}`
    expect((await post.fixture.call(limited, 'threads.get', 'GET', path)).status).toBe(200)
  })

  it('is not split by forged mail that is stored in the same transaction', async () => {
    const [first, second] = [id(), id()]
    const forged = { via: 'eve@evil.test', inReplyTo: first }
    await post.together(
      { messageId: first },
      { messageId: second, ...forged },
      { inReplyTo: second, references: [first] },
    )
    const [, genuine, attack, answer] = await afterReceiving(4)
    expect(attack.message.thread_id).not.toBe(genuine.message.thread_id)
    expect(answer.message.thread_id).toBe(genuine.message.thread_id)
  })

  it('is continued by answers to an id that a forger has used before', async () => {
    const messageId = id()
    // As many at once as one network may have connections.
    for (let group = 0; group < 5; group++) {
      const copies = Array.from({ length: 5 }, (_, copy) => `forged ${group} ${copy}`)
      await Promise.all(copies.map((text) => send({ messageId, via: 'eve@evil.test', text })))
    }
    await send({ messageId })
    await send({ inReplyTo: messageId, text: 'the answer' })
    const events = await afterReceiving(27)
    const [genuine, answer] = events.slice(-2)
    expect(answer.message.thread_id).toBe(genuine.message.thread_id)
    expect(new Set(events.slice(0, 25).map(({ message }) => message.thread_id)).size).toBe(1)
  })

  it('in the trash gets no further mail, which starts another thread; both stay separate when it is restored', async () => {
    const first = id()
    await send({ messageId: first })
    await afterReceiving(1)
    await update(first, { add_labels: ['trash'] })
    await send({ inReplyTo: first, text: 'after that' })
    const [trashed, later] = await afterReceiving(2)
    expect(later.message.thread_id).not.toBe(trashed.message.thread_id)
    await update(first, { remove_labels: ['trash'] })
    expect(new Set(await threads())).toEqual(new Set([trashed.message.thread_id, later.message.thread_id]))
  })
})

describe('among several messages with one id', () => {
  it("the inbox's own sent one determines which thread an answer joins", async () => {
    const copy = await sentCopy(post.fixture, post.inbox)
    await post.fixture.peer('mail-ingest.placeSent', copy)
    const question = id()
    await send({ messageId: question, text: 'another thread' })
    // Back from a list with another body: it goes where its own header says.
    await send({ messageId: copy.message_id, inReplyTo: question, text: 'Our offer, and a footer' })
    await send({ inReplyTo: copy.message_id, text: 'thanks' })
    const [other, back, answer] = await afterReceiving(3)
    expect(back.message.thread_id).toBe(other.message.thread_id)
    expect(answer.message.thread_id).toBe(copy.thread_id)
  })

  it('one with the author of the answer among its people decides, otherwise the oldest', async () => {
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

describe('an id of the form created by the inbox', () => {
  it('is not taken by a received mail while it is unknown whether the inbox sent it', async () => {
    const copy = await sentCopy(post.fixture, post.inbox)
    await send({ messageId: copy.message_id, from: 'Eve <eve@evil.test>', via: 'eve@evil.test' })
    const [forged] = await afterReceiving(1)
    expect(forged.message.message_id).not.toBe(copy.message_id)
    await post.fixture.peer('mail-ingest.placeSent', copy)
    const { body } = await post.fixture.call(post.inbox.caller, 'messages.get', 'GET', pathOf(copy.message_id))
    expect(body).toMatchObject({ thread_id: copy.thread_id, labels: ['sent', 'campaign'] })
  })
})
