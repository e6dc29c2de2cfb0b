import { randomUUID } from 'node:crypto'
import { queryRows } from '@restante/testkit'
import { type Answer, type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { type Filled, fillInbox, idsOf, searchMessages, searchThreads } from './search-fixture.ts'

const MESSAGES = 3_000
/** Subjects of messages; those of the others are weekly reports. */
const SUBJECTS: Readonly<Record<number, string>> = {
  2600: 'A pelican',
  2700: 'Quote - heron',
}
const PELICANS = [700, 1_400, 2_800]
/** Messages of one thread, which was quiet for long. */
const CONVERSATION = [0, 2_950]

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
      const osprey = index < 250 || index === 2_990 ? ' on an osprey' : ''
      const words = [
        'this is the new list of all that we have seen',
        ...(index >= 300 ? ['kestrel'] : []),
        ...(PELICANS.includes(index) ? ['pelican'] : []),
        ...(index === 2_900 ? ['listen'] : []),
      ]
      return {
        text: words.join(' '),
        subject: SUBJECTS[index] ?? `Weekly report${osprey}`,
        ...(CONVERSATION.includes(index) && { thread }),
      }
    }),
  )
})
afterAll(() => fixture.stop())

async function everyMessage(q: string, limit: string) {
  const found: Answer['body']['messages'][number][] = []
  for (let token: string | undefined, more = true; more; more = token !== undefined) {
    const query = { q, limit, ...(token !== undefined && { page_token: token }) }
    const { body } = await searchMessages(fixture, inbox, query)
    found.push(...body.messages)
    token = body.next_page_token
  }
  return found
}
const minutesOf = (messages: readonly Answer['body']['messages'][number][]) =>
  messages.map(({ timestamp }) => Math.round(Date.parse(timestamp) / 60_000))

describe('the results of a search', () => {
  it('go on with all bodies after an old message with the word in its subject', async () => {
    for (const limit of ['1', '2', '100']) {
      const minutes = minutesOf(await everyMessage('pelican', limit))
      const [subject = 0] = minutes
      expect([limit, minutes.map((minute) => subject - minute + 2_600)]).toEqual([limit, [2_600, ...PELICANS]])
    }
  })

  it('are all messages with the word in their subject, however many, each once', async () => {
    const found = await everyMessage('weekly', '100')
    const ids = new Set(found.map(({ message_id }) => message_id))
    expect([found.length, ids.size]).toEqual([MESSAGES - 2, MESSAGES - 2])
    const minutes = minutesOf(found)
    expect(minutes).toEqual(minutes.toSorted((a, b) => b - a))
  })

  it('include old ones with a word that was rare before it became frequent', async () => {
    const found = await everyMessage('osprey', '100')
    expect(new Set(found.map(({ message_id }) => message_id)).size).toBe(251)
  })

  it('include old ones for a search with a word that is but a dash', async () => {
    expect(await everyMessage('quote - heron', '50')).toMatchObject([{ subject: 'Quote - heron' }])
    expect(await everyMessage('quote / heron', '50')).toEqual([])
  })

  it('have a form of the word in their own language, not one in another', async () => {
    const found = await everyMessage('listen', '50')
    expect(found).toMatchObject([{ highlights: { text: [expect.stringContaining('**listen**')] } }])
  })

  it('are threads by their last activity, however many others have newer messages that match', async () => {
    const all = await searchThreads(fixture, inbox, { q: 'kestrel', limit: '1' })
    const { body: messages } = await searchMessages(fixture, inbox, { q: 'kestrel', limit: '1' })
    expect(all.body.threads.map(({ timestamp }) => timestamp)).toEqual([messages.messages[0]?.timestamp])
    const newest = Date.parse(all.body.threads[0]?.timestamp ?? '')
    const after = new Date(newest + 60_000 * 100).toISOString()
    const { body } = await searchThreads(fixture, inbox, { q: 'kestrel', after })
    expect(body).toMatchObject({ count: 1, threads: [{ highlights: { text: [expect.any(String)] } }] })
  })
})

describe('a search among mail of any date', () => {
  it('finds what is newer than mail of two thousand years ago', async () => {
    const old = await fixture.inbox()
    const messages = Array.from({ length: 500 }, (_, at) => ({ subject: at < 4 ? 'An ibis' : 'Other', text: 'x' }))
    await fillInbox(fixture, old, messages)
    await queryRows(
      fixture.db,
      `update searchable set "timestamp" = '0001-01-01Z'
        where id in (select id from searchable where inbox_uid = $1 order by "timestamp" limit 2)`,
      old.inbox_uid,
    )
    expect(idsOf(await searchMessages(fixture, old, { q: 'ibis' }))).toHaveLength(4)
  })
})
