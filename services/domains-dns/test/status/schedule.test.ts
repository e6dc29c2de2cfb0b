import { countCheck, NOT_FAILING } from '../../src/status/failing.ts'
import { nextCheck } from '../../src/status/schedule.ts'
import { ago, DAY, found, HOUR, MINUTE, NOW, REQUIRED, row, verified } from './rows.ts'

const SECOND = 1_000
/** Without jitter. */
const MIDDLE = 0.5

/** Time from now to the next check, in milliseconds. */
function wait(
  domain: Parameters<typeof nextCheck>[0],
  { isComplete = true, random = MIDDLE } = {},
): number | undefined {
  const next = nextCheck(domain, isComplete, NOW, random)
  return next && next.getTime() - NOW.getTime()
}

describe('the next check of a registration that is not verified', () => {
  const aged = (ms: number) => row({ status: 'PENDING', scheduled_from: ago(ms), checked_at: ago(SECOND) })

  it.each([
    [0, 30 * SECOND],
    [30 * SECOND, 1 * MINUTE],
    [1 * MINUTE, 2 * MINUTE],
    [2 * MINUTE, 5 * MINUTE],
    [5 * MINUTE, 10 * MINUTE],
    [10 * MINUTE, 20 * MINUTE],
    [20 * MINUTE, 40 * MINUTE],
  ])('comes, after one at %i ms of its schedule, at %i ms', (age, next) => {
    expect(wait(aged(age))).toBe(next - age)
    expect(wait(aged(age + 200))).toBe(next - age - 200)
  })

  it('comes every hour from 40 minutes to 24 hours, then every 6 hours to 14 days', () => {
    expect(wait(aged(40 * MINUTE))).toBe(HOUR)
    expect(wait(aged(DAY - 1))).toBe(HOUR)
    expect(wait(aged(DAY))).toBe(6 * HOUR)
    expect(wait(aged(13 * DAY))).toBe(6 * HOUR)
    expect(wait(aged(14 * DAY - HOUR))).toBe(HOUR)
  })

  it('is not made after 14 days, also not for an answer that is missing', () => {
    expect(wait(aged(14 * DAY))).toBeUndefined()
    expect(wait(aged(20 * DAY), { isComplete: false })).toBeUndefined()
  })

  it('is made when 72 h of convergence end', () => {
    const domain = { ...aged(3 * DAY), status: 'VERIFYING', converging_since: ago(71 * HOUR) } as const
    expect(wait(domain)).toBe(HOUR)
  })

  it('varies by a tenth where it is hours away', () => {
    expect(wait(aged(2 * DAY), { random: 0 })).toBe(5.4 * HOUR)
    expect(wait(aged(2 * DAY), { random: 1 })).toBeCloseTo(6.6 * HOUR)
    expect(wait(aged(MINUTE), { random: 1 })).toBe(MINUTE)
  })
})

describe('the next check of a verified registration', () => {
  it('comes after 6 hours, varied by a tenth, however old it is', () => {
    expect(wait(verified({ scheduled_from: ago(300 * DAY) }))).toBe(6 * HOUR)
    expect(wait(verified(), { random: 0 })).toBe(5.4 * HOUR)
  })

  it.each([
    [0, 5 * MINUTE],
    [5 * MINUTE, 20 * MINUTE],
    [20 * MINUTE, 60 * MINUTE],
    [60 * MINUTE, 80 * MINUTE],
  ])('comes, %i ms after the first that failed, at %i ms', (age, next) => {
    expect(wait(verified({ failing_since: ago(age), failing_checks: 1 }), { random: 0 })).toBe(next - age)
  })

  it('is made when DKIM has failed for 72 h, so that sending ends then', () => {
    expect(wait(verified({ dkim_failing_since: ago(71.5 * HOUR) }))).toBe(HOUR / 2)
  })
})

describe('the next check after one without some answers', () => {
  it('comes in a minute, and later the longer DNS is silent, at most at the regular time', () => {
    const silentFor = (ms: number) =>
      wait(verified({ checked_at: ago(ms), scheduled_from: ago(ms) }), { isComplete: false })
    expect(silentFor(SECOND)).toBe(MINUTE)
    expect(silentFor(HOUR)).toBe(15 * MINUTE)
    expect(silentFor(10 * DAY)).toBe(6 * HOUR)
  })
})

describe('failing checks of a verified registration', () => {
  const check = (before: typeof NOT_FAILING, records: ReturnType<typeof found>, answered = [...REQUIRED]) =>
    countCheck(before, { required: REQUIRED, records, answered }, NOW)
  const once = { failing_checks: 1, failing_since: ago(HOUR) }

  it('are counted from the first one', () => {
    const bad = found({ spf: 'MISSING' })
    expect(check(NOT_FAILING, bad)).toEqual({ failing_checks: 1, failing_since: NOW })
    expect(check(once, bad)).toEqual({ failing_checks: 2, failing_since: once.failing_since })
  })

  it('are forgotten after a good one', () => {
    expect(check(once, found())).toEqual(NOT_FAILING)
  })

  it('are neither added to nor forgotten by a check without answers for the records in question', () => {
    expect(check(once, found({ spf: 'MISSING' }), ['apex_mx', 'return_mx', 'dkim', 'dmarc'])).toEqual(once)
    expect(check(NOT_FAILING, found(), [])).toEqual(NOT_FAILING)
  })
})
