import { afterFailure, type FailureClock, hasMoved, STOPPED } from '../../../src/delivery/rules/failure-clock.ts'

const HOUR = 3_600_000
const start = Date.UTC(2026, 0, 1)

/** The clock after failures at these hours, those at which it warned, and that at which it disabled the webhook. */
function failAt(...hours: number[]): { clock: FailureClock; warnedAt: number[]; disabledAt: number | undefined } {
  let clock: FailureClock = STOPPED
  const warnedAt: number[] = []
  for (const hour of hours) {
    const { disable, warn, ...next } = afterFailure(clock, new Date(start + hour * HOUR))
    clock = next
    if (warn) warnedAt.push(hour)
    if (disable) return { clock, warnedAt, disabledAt: hour }
  }
  return { clock, warnedAt, disabledAt: undefined }
}
/** The hours of the attempts of one event, all of which fail. */
const attemptsFrom = (hour: number) => [0, 0.1, 0.6, 2.6, 7.6, 17.6, 27.6].map((after) => hour + after)

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
    const everySixHours = Array.from({ length: 22 }, (_, index) => index * 6)
    expect(failAt(...everySixHours).warnedAt).toEqual([12 + 60])
  })

  it('disables after five days of failures only, and not before', () => {
    const everyTwelveHours = Array.from({ length: 20 }, (_, index) => index * 12)
    expect(failAt(...everyTwelveHours).disabledAt).toBe(12 + 5 * 24)
  })

  it('warns about rare events that fail, and disables no sooner than half of its time after that', () => {
    const [first, week] = [attemptsFrom(0), 7 * 24]
    expect(failAt(...first, week)).toMatchObject({ warnedAt: [week], disabledAt: undefined })
    expect(failAt(...first, ...attemptsFrom(week), week + 59)).toMatchObject({ disabledAt: undefined })
    expect(failAt(...first, ...attemptsFrom(week), week + 60)).toMatchObject({
      warnedAt: [week],
      disabledAt: week + 60,
    })
  })

  it('has to be stored when a failure moves it, and not for those that follow within the hour', () => {
    const first = failAt(0).clock
    expect(hasMoved(STOPPED, first)).toBe(true)
    expect(hasMoved(first, failAt(0, 0.5).clock)).toBe(false)
    expect(hasMoved(first, failAt(0, 13).clock)).toBe(true)
  })
})
