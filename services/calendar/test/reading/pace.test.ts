import { mock } from 'node:test'
import { Pace } from '../../src/reading/window/pace.ts'

afterEach(() => mock.restoreAll())

it('lets others have their turn, and refuses a request that computes for too long in all', async () => {
  let now = 0
  mock.method(performance, 'now', () => now)
  const pace = new Pace(50)
  expect(pace.isOver).toBe(false)
  now += 15
  expect(pace.isOver).toBe(true)
  await pace.pause()
  expect(pace.isOver).toBe(false)
  now += 36
  await expect(pace.pause()).rejects.toMatchObject({ code: 'query_range_too_wide' })
})
