import { ApiError } from '@restante/service/errors'
import { windowOf } from '../../../src/reading/window/window.ts'

const now = new Date('2026-10-07T12:00:00.000Z')
const day = (number: number) => new Date(now.getTime() + number * 24 * 60 * 60 * 1_000)

function codeOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error)
  }
}

it('shows the next 90 days unless a window is given', () => {
  expect(windowOf({}, now)).toEqual({ after: now, before: day(90) })
  expect(windowOf({ after: day(5) }, now)).toEqual({ after: day(5), before: day(95) })
  expect(windowOf({ before: day(2) }, now)).toEqual({ after: now, before: day(2) })
})

it('refuses a window that ends before it begins', () => {
  expect(codeOf(() => windowOf({ before: day(-1) }, now))).toBe('validation_error')
  expect(codeOf(() => windowOf({ after: day(1), before: day(1) }, now))).toBe('validation_error')
})

it('takes a window of 366 days and refuses a wider one with a code of its own', () => {
  expect(codeOf(() => windowOf({ before: day(366) }, now))).toBeUndefined()
  expect(codeOf(() => windowOf({ before: new Date(day(366).getTime() + 1) }, now))).toBe('query_range_too_wide')
})
