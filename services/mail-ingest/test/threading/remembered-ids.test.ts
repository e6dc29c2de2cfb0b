import { createLogger } from '@restante/service/telemetry'
import { queryRows, waitFor } from '@restante/testkit'
import { RetentionSweeper } from '../../src/retention/sweeper.ts'
import { Correspondence, type Letter, madeId } from '../correspondence.ts'
import { pathOf } from '../mailbox-fixture.ts'

const OTHER = { from: 'Bo <bo@other.test>', via: 'bo@other.test' }
/** Another host of the organization of Ada. */
const DESK = { from: 'Desk <desk@tickets.customer.test>', via: 'desk@tickets.customer.test' }
const GTUBE = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'

let post: Correspondence

beforeAll(async () => {
  post = await Correspondence.open('customer.test', 'tickets.customer.test', 'other.test')
})
afterAll(() => post.close())
beforeEach(() => post.openInbox())

/** Sends mails one after the other. @returns the thread of each */
async function threadsOf(...mails: Letter[]): Promise<string[]> {
  const threads: string[] = []
  for (const [number, mail] of mails.entries()) {
    await post.send({ text: `mail ${number}`, messageId: madeId(), ...mail })
    const events = await post.afterReceiving(number + 1)
    threads.push(events[number]?.message.thread_id)
  }
  return threads
}

const remembered = () =>
  queryRows<{ id: string; thread_id: string }>(
    post.fixture.db,
    'select id, thread_id from remembered_ids where inbox_uid = $1 order by position desc',
    post.inbox.inbox_uid,
  )

describe('an id that mails refer to and that no message has', () => {
  it('joins mails of one organization that refer to it into one thread, in either header', async () => {
    const ticket = madeId('tickets.customer.test')
    const [first, second, third] = await threadsOf(
      { inReplyTo: ticket },
      { ...DESK, references: [madeId(), ticket] },
      { inReplyTo: ticket },
    )
    expect([second, third]).toEqual([first, first])
  })

  it('does so for mails that one transaction stores', async () => {
    const ticket = madeId()
    await post.together({ inReplyTo: ticket, text: 'one' }, { inReplyTo: ticket, text: 'two' })
    const [, one, two] = await post.afterReceiving(3)
    expect(two.message.thread_id).toBe(one.message.thread_id)
  })

  it('does not join mail of another organization that refers to it', async () => {
    const ticket = madeId()
    const [first, stranger, again] = await threadsOf(
      { inReplyTo: ticket },
      { inReplyTo: ticket, ...OTHER },
      {
        inReplyTo: ticket,
        ...OTHER,
      },
    )
    expect(stranger).not.toBe(first)
    expect(again).toBe(stranger)
  })

  it("joins a message that arrives after its answer to the answer's thread, whatever its domain", async () => {
    const question = madeId('other.test')
    const [answer, asked] = await threadsOf({ inReplyTo: question }, { messageId: question, ...OTHER })
    expect(asked).toBe(answer)
  })

  it('counts only when the reply headers name no stored message', async () => {
    const [ticket, stored] = [madeId(), madeId()]
    const [first, other, mail] = await threadsOf(
      { inReplyTo: ticket },
      { messageId: stored },
      {
        inReplyTo: ticket,
        references: [stored],
      },
    )
    expect(mail).toBe(other)
    expect(mail).not.toBe(first)
  })

  it.each<[string, Letter]>([
    ['spam', { text: GTUBE }],
    ['unauthenticated', { via: 'eve@evil.test' }],
  ])('is neither remembered for %s mail, nor joins it to a thread', async (_what, distrusted) => {
    const [own, ticket] = [madeId(), madeId()]
    const [, genuine, forged, late] = await threadsOf(
      { inReplyTo: ticket, ...distrusted },
      { references: [own, ticket] },
      { inReplyTo: ticket, ...distrusted },
      { messageId: own, ...distrusted },
    )
    expect(forged).not.toBe(genuine)
    expect(late).not.toBe(genuine)
    expect(await post.threads()).toEqual([genuine])
    expect(await remembered()).toHaveLength(2)
  })

  it('is kept while it is one of the newest twenty of its thread', async () => {
    const ids = Array.from({ length: 25 }, () => madeId())
    const next = madeId()
    const [first, newer] = await threadsOf({ references: ids }, { inReplyTo: ids[24], references: [next] })
    expect(newer).toBe(first)
    const newest = [ids[24], next, ...ids.slice(7, 24).reverse(), ids[6]]
    expect((await remembered()).map(({ id }) => id)).toEqual(newest)
  })

  it('is forgotten after 30 days', async () => {
    const { db } = post.fixture
    const ticket = madeId()
    await post.send({ inReplyTo: ticket, text: 'one' })
    const [one] = await post.afterReceiving(1)
    const rememberedAt = new Date(Date.now() - 30 * 86_400_000 - 1_000)
    await queryRows(
      db,
      'update remembered_ids set remembered_at = $2 where inbox_uid = $1',
      post.inbox.inbox_uid,
      rememberedAt,
    )
    const young = madeId()
    await post.send({ references: [young, ticket], text: 'two' })
    const [, two] = await post.afterReceiving(2)
    expect(two.message.thread_id).not.toBe(one.message.thread_id)
    await new RetentionSweeper({ db, log: createLogger({ service: 'test', level: 'silent' }) }).forget()
    const left = await remembered()
    expect(left.map(({ id }) => id)).toEqual([ticket, young])
    expect(left.map(({ thread_id }) => thread_id)).toEqual([two.message.thread_id, two.message.thread_id])
  })

  it('is deleted with its thread, and with its inbox', async () => {
    const { fixture, inbox } = post
    const messageId = madeId()
    await threadsOf({ messageId, inReplyTo: madeId() }, { inReplyTo: madeId() })
    expect(await remembered()).toHaveLength(2)
    await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(messageId))
    expect(await remembered()).toHaveLength(1)
    await fixture.deleteInbox(inbox)
    const { organization_id, pod_id, inbox_uid, address } = inbox
    const deleted_at = new Date().toISOString()
    await fixture.gatewayPeer('mail-ingest.purgeInbox', { organization_id, pod_id, inbox_uid, address, deleted_at })
    await waitFor(async () => (await remembered()).length === 0, { what: 'the purge' })
  })
})
