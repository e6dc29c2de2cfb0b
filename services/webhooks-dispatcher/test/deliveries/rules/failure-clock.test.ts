import { afterFailure, type FailureClock, STOPPED } from '../../../src/delivery/rules/failure-clock.ts'

const HOUR = 3_600_000
const start = Date.UTC(2026, 0, 1)

/** The clock after failures at these hours, and the hour at which it disabled the webhook. */
function failAt(...hours: number[]): { clock: FailureClock; disabledAt: number | undefined } {
  let clock: FailureClock = STOPPED
  for (const hour of hours) {
    const { disable, warn: _, ...next } = afterFailure(clock, new Date(start + hour * HOUR))
    clock = next
    if (disable) return { clock, disabledAt: hour }
  }
  return { clock, disabledAt: undefined }
}

describe('the failure clock', () => {
  it.each([
    ['one failure', [0]],
    ['many within an hour', [0, 0.1, 0.5, 1]],
    ['two failures more than a day apart', [0, 25]],
  ])('does not start after %s', (_what, hours) => {
    expect(failAt(...hours).clock.clockStartedAt).toBeNull()
  })

  it('starts when failures within a day are twelve hours apart', () => {
    expect(failAt(0, 6, 12).clock.clockStartedAt).toEqual(new Date(start + 12 * HOUR))
  })

  it('starts a new window at a failure more than a day after the first', () => {
    expect(failAt(0, 25).clock.failingSince).toEqual(new Date(start + 25 * HOUR))
  })

  it('asks for one warning, when it has run for two and a half days', () => {
    const warned: number[] = []
    let clock: FailureClock = STOPPED
    for (let hour = 0; hour < 12 + 5 * 24; hour += 6) {
      const { warn, disable: _, ...next } = afterFailure(clock, new Date(start + hour * HOUR))
      clock = next
      if (warn) warned.push(hour)
    }
    expect(warned).toEqual([12 + 60])
  })

  it('disables after five days of failures only, and not before', () => {
    const everyTwelveHours = Array.from({ length: 20 }, (_, index) => index * 12)
    expect(failAt(...everyTwelveHours).disabledAt).toBe(12 + 5 * 24)
  })
})
