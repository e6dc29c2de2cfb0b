import { periodsBetween, periodsOf } from '../../src/search/indexing/period.ts'

const organization = '0190f3c2-8f5a-7cc2-9d7e-00ffffffffff'
const DAY = 86_400_000

describe('the periods of a message', () => {
  it('are among those of every span of time in which it lies, and of none before or after', () => {
    for (let days = 1; days < 2_000; days = Math.ceil(days * 1.7)) {
      for (const start of [0, 100, 20_000, 33_000]) {
        const [since, until] = [new Date(start * DAY), new Date((start + days) * DAY)]
        const covered = new Set(periodsBetween(organization, since, until).split('|').map(Number))
        expect(covered.size).toBeLessThanOrEqual(17)
        for (const day of [start, start + days / 2, start + days]) {
          expect(periodsOf(organization, new Date(day * DAY)).filter((period) => covered.has(period))).toHaveLength(1)
        }
        const outside = [start - 1_100, start + days + 1_100].filter((day) => day >= 0)
        for (const day of outside) {
          expect(periodsOf(organization, new Date(day * DAY)).filter((period) => covered.has(period))).toEqual([])
        }
      }
    }
  })

  it('are ascending integers of 31 bits, whatever the organization and the time', () => {
    for (const id of [organization, 'ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-000000000000']) {
      for (const time of [-1e12, 0, 1.8e12, 8.64e15]) {
        const periods = periodsOf(id, new Date(time))
        expect(periods).toEqual(periods.toSorted((a, b) => a - b))
        for (const period of periods) expect(period === (period | 0) && period >= 0).toBe(true)
      }
    }
  })
})
