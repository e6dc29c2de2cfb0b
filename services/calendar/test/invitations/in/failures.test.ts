import { ApiError, UpstreamError } from '@restante/service/errors'
import { UpstreamRejectedError } from '@restante/service/http'
import { isOfFile, nextAttempt } from '../../../src/invitations/in/failures.ts'

const LATE = 1_000

describe('an attempt at a calendar file', () => {
  it('is repeated for days while other services or the database are down, or an event is just starting', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const rejected = new UpstreamRejectedError('mail-ingest.getCalendarFiles', 404, undefined)
    const passing = [new UpstreamError('gateway is down'), rejected, refused, new ApiError('event_starting')]
    expect(passing.map((error) => nextAttempt(LATE, error))).not.toContain(null)
    expect(passing.map(isOfFile)).toEqual([false, false, false, false])
  })

  it('is repeated some times after any other failure, then given up', () => {
    const failure = new TypeError('a mistake')
    expect(nextAttempt(1, failure)).toBeInstanceOf(Date)
    expect(nextAttempt(20, failure)).toBeNull()
    expect(isOfFile(failure)).toBe(false)
  })

  it('is not repeated for values that PostgreSQL cannot store', () => {
    const wrapped = new Error('query failed', { cause: Object.assign(new Error('out of range'), { code: '22008' }) })
    expect([wrapped, wrapped.cause].map(isOfFile)).toEqual([true, true])
  })
})
