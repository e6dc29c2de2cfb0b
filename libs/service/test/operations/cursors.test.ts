import { ApiError } from '../../src/errors/api-error.ts'
import { Cursors } from '../../src/http/lists/cursors.ts'

const cursors = new Cursors('a secret of the installation')
const context = { list: 'threads.list', scope: 'o1', filters: { labels: ['vip'] }, ascending: false }

describe('page tokens', () => {
  it('open to the position they were sealed with', () => {
    expect(cursors.open(context, cursors.seal(context, ['2026-01-01T00:00:00.000Z', 7]))).toEqual([
      '2026-01-01T00:00:00.000Z',
      7,
    ])
  })

  it('are URL-safe and reveal nothing', () => {
    const token = cursors.seal(context, ['secret position'])
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('position')
  })

  it.each([
    ['another list', { ...context, list: 'messages.list' }],
    ['another scope', { ...context, scope: 'o2' }],
    ['another filter', { ...context, filters: {} }],
    ['the other direction', { ...context, ascending: true }],
  ])('are refused for %s', (_what, other) => {
    expect(() => cursors.open(other, cursors.seal(context, [1]))).toThrow(ApiError)
  })

  it.each(['', 'x', 'not-a-token', 'A'.repeat(500)])(
    'are refused with a 400 at page_token when they are %j',
    (token) => {
      try {
        cursors.open(context, token)
        throw new Error('accepted')
      } catch (error) {
        expect(error).toMatchObject({ status: 400, options: { errors: [{ path: ['page_token'] }] } })
      }
    },
  )

  it('are refused when any byte was changed', () => {
    const token = Buffer.from(cursors.seal(context, [1, 'x']), 'base64url')
    for (let index = 0; index < token.length; index++) {
      const changed = Buffer.from(token)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => cursors.open(context, changed.toString('base64url'))).toThrow(ApiError)
    }
  })

  it.each(['x', '=', '!', ' '])('are refused with %j appended', (more) => {
    expect(() => cursors.open(context, cursors.seal(context, [1]) + more)).toThrow(ApiError)
    expect(() => cursors.open(context, `${cursors.seal(context, [12])}${more}`)).toThrow(ApiError)
    expect(() => cursors.open(context, `${cursors.seal(context, [123])}${more}`)).toThrow(ApiError)
  })

  it('are refused by an installation with another secret', () => {
    expect(() => new Cursors('another secret').open(context, cursors.seal(context, [1]))).toThrow(ApiError)
  })
})
