import { randomUUID } from 'node:crypto'
import { type Answer, type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { type Filled, fillInbox, idsOf, searchMessages, searchThreads } from './search-fixture.ts'

const MESSAGES = 2_600
/** Messages of the filled inbox that share a thread, from the newest to the oldest. */
const CONVERSATION = [3, 300, 2_100]
/** Messages with words in their subject: all are older than those that are compared one by one. */
const SUBJECTS: Readonly<Record<number, string>> = {
  600: 'Always at hand',
  2200: 'About 納品',
  2100: 'Often asked',
  2500: 'Always at hand, again',
}

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
  inbox = await fixture.inbox()
  const thread = randomUUID()
  await fillInbox(
    fixture,
    inbox,
    Array.from({ length: MESSAGES }, (_, index): Filled => {
      const words = ['always', ...(index % 10 === 0 ? ['often'] : []), ...(index % 350 === 0 ? ['seldom 納品書'] : [])]
      return {
        text: words.join(' '),
        ...(SUBJECTS[index] !== undefined && { subject: SUBJECTS[index] }),
        ...(CONVERSATION.includes(index) && { thread }),
      }
    }),
  )
})
afterAll(() => fixture.stop())

const messages = (q: string, more: Record<string, string> = {}) => searchMessages(fixture, inbox, { q, ...more })
const threads = (q: string, more: Record<string, string> = {}) => searchThreads(fixture, inbox, { q, ...more })

/** All pages of a search. */
async function pagesOf(search: typeof messages, q: string): Promise<Answer[]> {
  const pages: Answer[] = []
  for (let token: string | undefined, more = true; more; more = token !== undefined) {
    const page = await search(q, { limit: '100', ...(token !== undefined && { page_token: token }) })
    pages.push(page)
    token = page.body.next_page_token
  }
  return pages
}
const everyMessage = async (q: string) => (await pagesOf(messages, q)).flatMap(idsOf)

describe('search among thousands of messages', () => {
  it('finds frequent, less frequent and rare words, each message once', async () => {
    const [always, often, seldom] = [
      await everyMessage('always'),
      await everyMessage('often'),
      await everyMessage('seldom'),
    ]
    expect([always.length, often.length, seldom.length]).toEqual([MESSAGES, 260, 8])
    for (const found of [always, often]) expect(new Set(found).size).toBe(found.length)
    expect((await everyMessage('often seldom')).toSorted()).toEqual(seldom.toSorted())
  })

  it('ranks an old message with the word in its subject before the newest with the word in their bodies', async () => {
    for (const [q, subjects] of [
      ['always', ['Always at hand', 'Always at hand, again', 'Filled']],
      ['often', ['Often asked', 'Filled']],
      ['納品', ['About 納品', 'Filled']],
      ['often always', ['Always at hand', 'Often asked', 'Always at hand, again', 'Filled']],
    ] as const) {
      const { body } = await messages(q, { limit: '5' })
      expect([q, body.messages.slice(0, subjects.length).map(({ subject }) => subject)]).toEqual([q, subjects])
    }
  })

  it('orders those with the word in their bodies by time, from page to page', async () => {
    const times = (await pagesOf(messages, 'always'))
      .flatMap(({ body }) => body.messages)
      .slice(2)
      .map(({ timestamp }) => timestamp)
    expect(times).toEqual(times.toSorted().toReversed())
  })

  it('finds a thread once, by its best message, whichever page its others would be on', async () => {
    const found = (await pagesOf(threads, 'often')).flatMap(({ body }) => body.threads)
    const ids = found.map(({ thread_id }) => thread_id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(found[0]).toMatchObject({ highlights: { subject: ['**Often** asked'] } })
    const always = (await pagesOf(threads, 'always')).flatMap(({ body }) =>
      body.threads.map(({ thread_id }) => thread_id),
    )
    expect(new Set(always).size).toBe(always.length)
    expect(always).toHaveLength(MESSAGES - CONVERSATION.length + 1)
  })
})
