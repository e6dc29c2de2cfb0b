import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { fillInbox, idsOf, searchMessages } from './search-fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
  inbox = await fixture.inbox()
}, 60_000)
afterAll(() => fixture.stop(), 30_000)

const search = (q: string, more: Record<string, string>) => searchMessages(fixture, inbox, { q, ...more })

describe('messages.search', () => {
  it('finds frequent, less frequent and rare words among thousands of messages', async () => {
    await fillInbox(
      fixture,
      inbox,
      Array.from({ length: 5_000 }, (_, index) =>
        ['always', ...(index % 10 === 0 ? ['often'] : []), ...(index % 700 === 0 ? ['seldom'] : [])].join(' '),
      ),
    )
    const all = async (q: string) => {
      const found: string[] = []
      for (let token: string | undefined, more = true; more; more = token !== undefined) {
        const answer = await search(q, { limit: '100', ...(token !== undefined && { page_token: token }) })
        found.push(...idsOf(answer))
        token = answer.body.next_page_token
      }
      return found
    }
    const [always, often, seldom] = [await all('always'), await all('often'), await all('seldom')]
    expect([always.length, often.length, seldom.length]).toEqual([2_000, 500, 8])
    expect(new Set(often).size).toBe(500)
    expect(await all('often seldom')).toEqual(seldom)
  }, 120_000)
})
