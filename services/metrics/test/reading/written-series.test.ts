import { COUNTED_EVENT_TYPES, USAGE_TYPES } from '@restante/contracts/vocabulary'
import fc from 'fast-check'
import { writeEvents, writeUsage } from '../../src/reading/written-series.ts'

const time = fc.oneof(fc.integer({ min: 0, max: 4_102_444_800_000 }), fc.integer({ min: 0, max: 90_000_000 }))
const count = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.nat(1e12))
const sums = fc.array(fc.record({ index: fc.nat(100_000), sum: count }), { maxLength: 40 })
const types = fc.subarray([...COUNTED_EVENT_TYPES])

it('writes of events what the standard library would', () => {
  fc.assert(
    fc.property(time, fc.integer({ min: 1, max: 86_400_000 }), types, fc.array(sums), (from, period, asked, lists) => {
      const found = new Map(asked.map((type, place) => [type, lists[place] ?? []]))
      const shown = asked.map((type) => [
        type,
        (found.get(type) ?? []).map(({ index, sum }) => ({
          timestamp: new Date(from + index * period).toISOString(),
          count: sum,
        })),
      ])
      expect(writeEvents(asked, found, { from, period }).toString()).toBe(JSON.stringify(Object.fromEntries(shown)))
    }),
  )
})

it('writes of running totals what the standard library would', () => {
  const value = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -12, max: 12 }))
  const measured = fc.array(fc.record({ at: time, value }), { maxLength: 40 })
  const asked = fc.subarray([...USAGE_TYPES.organization])
  fc.assert(
    fc.property(asked, fc.array(measured), (names, lists) => {
      const found = new Map(names.map((type, place) => [type, lists[place] ?? []]))
      const shown = names.map((type) => [
        type,
        (found.get(type) ?? []).map(({ at, value }) => ({ timestamp: new Date(at).toISOString(), value })),
      ])
      expect(writeUsage(names, found).toString()).toBe(JSON.stringify(Object.fromEntries(shown)))
    }),
  )
})

it('has a member for each type that was asked for', () => {
  expect(writeEvents(['message.sent', 'message.bounced'], new Map(), { from: 0, period: 1 }).toString()).toBe(
    '{"message.sent":[],"message.bounced":[]}',
  )
})
