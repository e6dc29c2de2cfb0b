import { ApiError } from '../../src/errors/index.ts'
import { Cursors, KeysetPage, type KeysetPageOptions, type PageQuery, type Position } from '../../src/http/index.ts'

const cursors = new Cursors('a secret of the installation')
const within = { organizationId: 'o1', podId: undefined, inboxUid: undefined }

const row = (number: number) => ({ number, time: new Date(1_750_000_000_000 + number), id: `row ${number}` })
const ROWS = [1, 2, 3, 4, 5].map(row)
type Row = (typeof ROWS)[number]

const position = ({ time, id }: Row): Position => ({ time, id })

/** A query with members that are filters of its list. */
type Query = PageQuery & Readonly<Record<string, unknown>>

function pageOf(query: Query, options: Partial<KeysetPageOptions> = {}): KeysetPage {
  return new KeysetPage(cursors, { operation: 'webhooks.list', within, query, ...options })
}

function numbersOf(page: KeysetPage, rows: Row[], found?: number) {
  return page.answer(rows, position, ({ number }) => number, found)
}

/** A token of the list of webhooks, newest first, that goes on after the second row. */
function tokenAfterTwo(query: Query = {}): string {
  const { members } = numbersOf(pageOf({ ...query, limit: 2 }), ROWS.slice(0, 3))
  expect(members.next_page_token).toEqual(expect.any(String))
  return members.next_page_token ?? ''
}

describe('a page by keyset', () => {
  it('reads one row more than it shows, and goes on after the last one that it shows', () => {
    const page = pageOf({ limit: 2 })
    expect([page.take, page.after, page.order]).toEqual([3, undefined, 'desc'])
    const { items, members } = numbersOf(page, ROWS.slice(0, page.take))
    expect(items).toEqual([1, 2])
    expect(members).toEqual({ count: 2, limit: 2, next_page_token: expect.any(String) })
    expect(pageOf({ limit: 2, page_token: members.next_page_token }).after).toEqual({ time: row(2).time, id: 'row 2' })
  })

  it('has no next page where no row remains', () => {
    expect(numbersOf(pageOf({ limit: 2 }), ROWS.slice(0, 2)).members.next_page_token).toBeUndefined()
    expect(numbersOf(pageOf({}), []).members).toEqual({ count: 0, limit: undefined, next_page_token: undefined })
  })

  it('holds 50 items unless the request or the list says otherwise, and echoes only what was asked', () => {
    expect(pageOf({}).take).toBe(51)
    expect(pageOf({}, { defaultSize: 10 }).take).toBe(11)
    expect(pageOf({ limit: 3 }, { defaultSize: 10 }).take).toBe(4)
    expect(numbersOf(pageOf({}), ROWS).members.limit).toBeUndefined()
  })

  it('goes on after the last row that had room when the answer is cut short', () => {
    const { items, members } = numbersOf(pageOf({ limit: 4 }), ROWS.slice(0, 3), 4)
    expect([items, members.count]).toEqual([[1, 2, 3], 3])
    expect(pageOf({ page_token: members.next_page_token }).after?.id).toBe('row 3')
  })

  it('carries the rank of a row in a list that has ranks', () => {
    const page = pageOf({ limit: 1 })
    const { members } = page.answer(ROWS, ({ time, id }) => ({ rank: 'exact', time, id }), String)
    expect(pageOf({ page_token: members.next_page_token }).after).toEqual({
      rank: 'exact',
      time: row(1).time,
      id: 'row 1',
    })
  })

  it('goes on with another limit', () => {
    expect(pageOf({ limit: 5, page_token: tokenAfterTwo() }).after?.id).toBe('row 2')
  })

  it.each<[string, Query, Partial<KeysetPageOptions>]>([
    ['another list', {}, { operation: 'pods.list' }],
    ['another organization', {}, { within: { ...within, organizationId: 'o2' } }],
    ['a narrower scope', {}, { within: { ...within, podId: 'p1' } }],
    ['the other direction', { ascending: true }, {}],
    ['a filter more', { labels: ['vip'] }, {}],
  ])('is refused with 400 for the token of %s', (_what, query, options) => {
    expect(() => pageOf({ ...query, page_token: tokenAfterTwo() }, options)).toThrow(ApiError)
  })

  it('is refused for a token of the same list with another value of a filter', () => {
    const filtered = (label: string) => ({ labels: [label] })
    const token = tokenAfterTwo(filtered('vip'))
    expect(pageOf({ ...filtered('vip'), page_token: token }).after?.id).toBe('row 2')
    expect(() => pageOf({ ...filtered('other'), page_token: token })).toThrow(ApiError)
  })
})
