import { operations } from '../../src/operations/index.ts'
import { decodeQuery, pageSize } from '../../src/schemas/index.ts'
import { validate } from '../../src/validation/index.ts'
import { type FieldError, LIMITS } from '../../src/vocabulary/index.ts'

const { query } = operations['messages.list']

function read(search: string): unknown {
  const result = validate(query, decodeQuery(search))
  return result.ok ? result.value : result.errors
}

function refusal(path: FieldError['path'], message: string): FieldError[] {
  return [{ path, message }]
}

describe('a list in the query', () => {
  it.each([
    ['a JSON array', `labels=${encodeURIComponent('["unread","vip"]')}`],
    ['repeated', 'labels=unread&labels=vip'],
    ['with commas', 'labels=unread,vip'],
    ['with brackets', 'labels[]=unread&labels[]=vip'],
    ['with indexes', 'labels[0]=unread&labels[1]=vip'],
    ['in any case and spacing', 'labels=%20UNREAD%20,Vip'],
  ])('is read %s', (_, search) => {
    expect(read(search)).toEqual({ labels: ['unread', 'vip'] })
  })

  it('keeps a literal comma in the JSON spelling, and in brackets', () => {
    expect(read(`from=${encodeURIComponent('["Ray, Ada"]')}`)).toEqual({ from: ['Ray, Ada'] })
    expect(read('from[]=Ray,%20Ada')).toEqual({ from: ['Ray, Ada'] })
  })

  it.each(['labels=unread&labels=a,%20b', 'labels[]=unread&labels[]=a,b', 'labels[0]=unread,a&labels[1]=b,'])(
    'divides each of repeated labels at its commas: %s',
    (search) => {
      expect(read(search)).toEqual({ labels: ['unread', 'a', 'b'] })
    },
  )

  it('keeps a literal comma of a label in the JSON spelling', () => {
    expect(read('labels[]=a,b')).toEqual({ labels: ['a', 'b'] })
    expect(read(`labels=${encodeURIComponent('["a,b","c"]')}`)).toEqual({ labels: ['a,b', 'c'] })
    expect(read('from=ada&from=Ray,%20Ada')).toEqual({ from: ['ada', 'Ray, Ada'] })
  })

  it('treats text that only looks like JSON as text', () => {
    expect(read('subject=[ticket')).toEqual({ subject: ['[ticket'] })
    expect(read('subject=[{"a":1}]')).toEqual({ subject: ['[{"a":1}]'] })
    expect(read('subject=[7,true]')).toEqual({ subject: ['7', 'true'] })
  })

  it.each(['from=a%00b', `from=${encodeURIComponent('["a\\u0000b"]')}`])(
    'refuses NUL, which no text has: %s',
    (search) => {
      expect(read(search)).toEqual(refusal(['from'], 'Must not contain NUL'))
    },
  )
})

describe('an empty query value', () => {
  it('counts as absent', () => {
    expect(read('limit=&labels=&include_spam=&before=')).toEqual({})
  })

  it('is an error in page_token', () => {
    expect(read('page_token=')).toEqual(refusal(['page_token'], 'Invalid page token'))
  })
})

describe('a scalar in the query', () => {
  it.each([
    ['limit=0', 'limit', 'Must be at least 1'],
    ['limit=-3', 'limit', 'Must be at least 1'],
    ['limit=1.5', 'limit', 'Must be a whole number'],
    ['limit=ten', 'limit', 'Must be a whole number'],
    ['limit=1&limit=2', 'limit', 'Give this parameter once'],
    ['ascending=1', 'ascending', 'Must be true or false'],
    ['include_trash=True', 'include_trash', 'Must be true or false'],
  ])('%s is refused', (search, path, message) => {
    expect(read(search)).toEqual(refusal([path], message))
  })

  it.each([
    ['2026-08-24T00:00:00Z', '2026-08-24T00:00:00.000Z'],
    ['2026-08-24T02:00:00.123456%2B02:00', '2026-08-24T00:00:00.123Z'],
    ['2026-08-24T02:00:00+02:00', '2026-08-24T00:00:00.000Z'],
  ])('the time %s is accepted', (text, instant) => {
    expect(read(`before=${text}`)).toEqual({ before: new Date(instant) })
  })

  it.each(['2026-08-24', '2026-08-24T00:00:00', '2026-08-24T00:00Z', '2026-02-30T00:00:00Z', 'yesterday'])(
    'the instant %s is refused',
    (text) => {
      expect(read(`after=${text}`)).toMatchObject([{ path: ['after'] }])
    },
  )

  it('is ignored under any unknown name', () => {
    expect(read('__proto__=1&constructor=2&nope=3')).toEqual({})
  })
})

describe('limit', () => {
  it('is clamped when nothing is filtered', () => {
    expect(read('limit=100000')).toEqual({ limit: LIMITS.page.maxMail })
    expect(read('limit=400&include_spam=true&before=2026-01-01T00:00:00Z')).toMatchObject({ limit: 400 })
    expect(validate(operations['pods.list'].query, decodeQuery('limit=101'))).toEqual({
      ok: true,
      value: { limit: 100 },
    })
    expect(validate(operations['threads.get'].query, decodeQuery('limit=101'))).toEqual({
      ok: true,
      value: { limit: 100 },
    })
  })

  it.each(['labels=vip', 'from=ada', 'to=ada', 'subject=order'])('is refused above 100 with %s', (filter) => {
    expect(read(`limit=101&${filter}`)).toEqual(refusal(['limit'], 'limit cannot exceed 100 for filtered queries'))
    expect(read(`limit=100&${filter}`)).toMatchObject({ limit: 100 })
  })

  it('has a default', () => {
    expect(pageSize(undefined)).toBe(50)
    expect(pageSize(7)).toBe(7)
  })
})

it('names a thread id that is no UUID', () => {
  expect(validate(operations['threads.get'].params, { thread_id: 'x' })).toEqual({
    ok: false,
    errors: refusal(['thread_id'], 'Invalid UUID'),
  })
})

describe('an instant', () => {
  const read = (before: string) => validate(operations['messages.list'].query, { before })

  it.each([
    ['2026-10-01T16:30:00Z', '2026-10-01T16:30:00.000Z'],
    ['2026-10-01T16:30:00.123456789Z', '2026-10-01T16:30:00.123Z'],
    ['2026-10-01T16:30:00.5+05:30', '2026-10-01T11:00:00.500Z'],
    ['2026-10-01t16:30:00z', '2026-10-01T16:30:00.000Z'],
  ])('%s is %s', (given, at) => {
    expect(read(given)).toEqual({ ok: true, value: { before: new Date(at) } })
  })

  it.each(['2026-10-01', '2026-10-01T16:30:00', '2026-10-01T16:30Z', '2026-02-30T00:00:00Z', '1790872200', 'now'])(
    '%s is none',
    (given) => {
      expect(read(given)).toMatchObject({ ok: false, errors: [{ path: ['before'] }] })
    },
  )

  it.each(['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'])(
    '%s lies outside what can be written down',
    (given) => {
      expect(read(given)).toEqual({
        ok: false,
        errors: [{ path: ['before'], message: 'Must lie in the years 1 to 9999' }],
      })
    },
  )
})

describe('what a query must have', () => {
  it('is named when it is missing', () => {
    const result = validate(operations['inboxes.search'].query, decodeQuery('limit=5'))
    expect(result).toEqual({ ok: false, errors: refusal(['q'], 'Required') })
  })
})
