import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { fillInbox } from '../search/search-fixture.ts'

/** More than are compared one by one before the index is asked. */
const MESSAGES = 2_200
const RARE = new Set([3, 2_100, 2_150])

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
  inbox = await fixture.inbox()
  const subjects = Array.from({ length: MESSAGES }, (_, at) => {
    const half = at % 2 === 0 ? 'Even' : 'Odd'
    return `${half} ${RARE.has(at) ? 'Needle' : 'straw'} ${at}`
  })
  await fillInbox(
    fixture,
    inbox,
    subjects.map((subject) => ({ subject, text: 'filled' })),
  )
})
afterAll(() => fixture.stop())

/** The numbers in the subjects of all pages, in order. */
async function numbersOf(query: Readonly<Record<string, string>>): Promise<number[]> {
  const found: number[] = []
  for (let token: string | undefined = ''; token !== undefined; ) {
    const page = new URLSearchParams({ ...query, ...(token !== '' && { page_token: token }) })
    const { status, body } = await fixture.call(inbox.caller, 'messages.list', 'GET', `/messages?${page}`)
    expect(status).toBe(200)
    found.push(...body.messages.map(({ subject }) => Number(subject.split(' ').at(-1))))
    token = body.next_page_token
  }
  return found
}

const numbers = Array.from({ length: MESSAGES }, (_, at) => at)

describe('a text filter', () => {
  it('finds what few of many have, however old', async () => {
    expect(await numbersOf({ subject: 'needle' })).toEqual([3, 2_100, 2_150])
    expect(await numbersOf({ subject: 'NEEDLE', ascending: 'true' })).toEqual([2_150, 2_100, 3])
    expect(await numbersOf({ subject: 'hay' })).toEqual([])
  })

  it('finds what half of them have, over many pages, each once and in order', async () => {
    expect(await numbersOf({ subject: 'odd', limit: '100' })).toEqual(numbers.filter((at) => at % 2 === 1))
  })

  it('requires every text and every label', async () => {
    const both = new URLSearchParams([
      ['subject', 'even'],
      ['subject', 'needle'],
    ])
    const { body } = await fixture.call(inbox.caller, 'messages.list', 'GET', `/messages?${both}`)
    expect(body.messages.map(({ subject }) => subject)).toEqual(['Even Needle 2100', 'Even Needle 2150'])
    expect(await numbersOf({ subject: 'needle', labels: 'nowhere' })).toEqual([])
  })
})
