import { nextAttempt } from '../../../src/delivery/rules/schedule.ts'

const now = new Date(Date.UTC(2026, 0, 1))
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

describe('nextAttempt', () => {
  it.each([
    [1, 5 * SECOND],
    [2, 5 * MINUTE],
    [3, 30 * MINUTE],
    [4, 2 * HOUR],
    [5, 5 * HOUR],
    [6, 10 * HOUR],
    [7, 10 * HOUR],
  ])('waits after failure %d', (failures, wait) => {
    expect(nextAttempt(failures, now, 0)).toEqual(new Date(now.getTime() + wait))
  })

  it('gives up after the eighth failure', () => {
    expect(nextAttempt(8, now, 0)).toBeUndefined()
  })

  it('adds a jitter of at most a tenth of the wait, and none to the first', () => {
    expect(nextAttempt(1, now, 0.999)).toEqual(new Date(now.getTime() + 5 * SECOND))
    const late = nextAttempt(2, now, 0.999)?.getTime() ?? 0
    expect(late - now.getTime()).toBeGreaterThan(5 * MINUTE)
    expect(late - now.getTime()).toBeLessThanOrEqual(5.5 * MINUTE)
  })
})
