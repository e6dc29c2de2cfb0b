import fc from 'fast-check'
import { timestamp } from '../../src/reading/timestamp.ts'

it('writes every time as the standard library does', () => {
  const time = fc.oneof(fc.integer({ min: 0, max: 4_102_444_800_000 }), fc.integer({ min: 0, max: 90_000_000 }))
  fc.assert(
    fc.property(fc.array(time), (times) => {
      expect(times.map(timestamp)).toEqual(times.map((at) => new Date(at).toISOString()))
    }),
  )
})
