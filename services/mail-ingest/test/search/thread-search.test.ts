import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf } from '../mailbox-fixture.ts'
import { receiveIndexed, searchThreads } from './search-fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

const subjects = async (q: string, more: Record<string, string> = {}, caller = inbox.caller) => {
  const { status, body } = await searchThreads(fixture, { caller }, { q, ...more })
  expect(status).toBe(200)
  return body.threads.map(({ subject }) => subject)
}

describe('threads.search', () => {
  it('finds a thread once by any of its messages, with the highlights of the best one', async () => {
    const [id = ''] = await receiveIndexed(fixture, inbox, { subject: 'Delivery', text: 'Where is the parcel?' })
    await receiveIndexed(fixture, inbox, {
      subject: 'Re: Delivery of the parcel',
      text: 'It is here.',
      inReplyTo: id,
      references: id,
    })
    const { body } = await searchThreads(fixture, inbox, { q: 'parcel' })
    expect(body.threads).toEqual([
      expect.objectContaining({
        subject: 'Delivery',
        message_count: 2,
        highlights: { subject: ['Re: Delivery of the **parcel**'] },
      }),
    ])
  })

  it('finds a thread by an older message, where a newer one only has the same pairs of characters', async () => {
    const [id = ''] = await receiveIndexed(fixture, inbox, { subject: 'Quote', text: '先日の見積書です。' })
    await receiveIndexed(fixture, inbox, { subject: 'Re: Quote', text: '見積と積書', inReplyTo: id, references: id })
    const { body } = await searchThreads(fixture, inbox, { q: '見積書' })
    expect(body.threads).toEqual([
      expect.objectContaining({ message_count: 2, highlights: { text: ['先日の**見積書**です。'] } }),
    ])
  })

  it('finds threads of an inbox, of its pod and of the organization, and none of others', async () => {
    const second = await fixture.inbox()
    await receiveIndexed(fixture, inbox, { subject: 'Here', text: 'an otter' })
    await receiveIndexed(fixture, second, { subject: 'There', text: 'an otter' })
    expect(await subjects('otter')).toEqual(['Here'])
    const { inbox: _, pod_id: __, ...organization } = inbox.caller
    expect(await subjects('otter', {}, organization)).toEqual(expect.arrayContaining(['Here', 'There']))
    expect(await subjects('otter', {}, second.caller)).toEqual(['There'])
  })

  it('finds no thread that has a message with a restricted label', async () => {
    const [id = ''] = await receiveIndexed(fixture, inbox, { subject: 'Offer', text: 'a badger' })
    const [reply = ''] = await receiveIndexed(fixture, inbox, { subject: 'Re: Offer', text: 'No.', inReplyTo: id })
    expect(await subjects('badger')).toEqual(['Offer'])
    await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(reply), { add_labels: ['spam'] })
    expect(await subjects('badger')).toEqual([])
  })

  it('leads from page to page, and finds between bounds of the last activity', async () => {
    const dated = (day: number) => ({
      subject: `Day ${day}`,
      text: 'a stoat',
      date: new Date(`2026-03-0${day}T10:00:00Z`),
    })
    await receiveIndexed(fixture, inbox, dated(1), dated(2), dated(3))
    const first = await searchThreads(fixture, inbox, { q: 'stoat', limit: '2' })
    expect(first.body).toMatchObject({ count: 2, limit: 2, threads: [{ subject: 'Day 3' }, { subject: 'Day 2' }] })
    expect(await subjects('stoat', { limit: '2', page_token: String(first.body.next_page_token) })).toEqual(['Day 1'])
    expect(await subjects('stoat', { after: '2026-03-01T10:00:00Z', before: '2026-03-03T10:00:00Z' })).toEqual([
      'Day 2',
    ])
  })
})
