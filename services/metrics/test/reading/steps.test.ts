import { type Step, stepOf } from '../../src/reading/steps.ts'
import { DAY_MS } from '../../src/series/series.ts'

const FIRST_DAY = 20_000
const HOUR = 3_600_000

/** A step through 90 days from noon on, of which each has as many events. */
function stepThrough(perDay: number, { period, periods = 1_000, descending = false, to = 90 * DAY_MS }: Asked): Step {
  const from = FIRST_DAY * DAY_MS + DAY_MS / 2
  const events = new Map(Array.from({ length: 91 }, (_, index) => [FIRST_DAY + index, perDay]))
  const last = Math.ceil(to / period)
  return stepOf(events, { from, to: from + to, period }, { first: 0, last }, { periods, descending })
}

interface Asked {
  readonly period: number
  readonly periods?: number
  readonly descending?: boolean
  readonly to?: number
}

describe('a step through the periods of a series', () => {
  it('looks at little more than is asked for where every period has events', () => {
    const { first, last } = stepThrough(1_000_000, { period: 60_000 })
    expect(first).toBe(0)
    expect(last).toBeGreaterThan(1_000)
    expect(last).toBeLessThan(1_150)
  })

  it('looks as far as so many events are expected where most periods have none', () => {
    const { last } = stepThrough(100, { period: 1_000 })
    expect((last * 1_000) / DAY_MS).toBeGreaterThan(10)
    expect((last * 1_000) / DAY_MS).toBeLessThan(12)
  })

  it('ends with the range, where there are fewer events, or a part of a period is left', () => {
    expect(stepThrough(0, { period: 1_000 })).toMatchObject({ first: 0, last: 90 * 86_400 })
    expect(stepThrough(5, { period: HOUR, to: 10 * DAY_MS - 1 })).toMatchObject({ first: 0, last: 240 })
  })

  it('begins at the other end when that is asked for', () => {
    const { first, last } = stepThrough(1_000_000, { period: 60_000, descending: true })
    expect(last).toBe(90 * 1_440)
    expect(last - first).toBeLessThan(1_150)
  })

  it('leaves out rows where they are more than its periods', () => {
    expect(stepThrough(50_000, { period: DAY_MS }).probed).toBe(true)
    expect(stepThrough(50_000, { period: 60_000 }).probed).toBe(false)
    expect(stepThrough(5, { period: DAY_MS / 2 }).probed).toBe(false)
  })
})
