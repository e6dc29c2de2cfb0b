import { Pace } from '../../src/reading/window/pace.ts'

const compute = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
}

it('lets others have their turn, and refuses a request that computes for too long in all', async () => {
  const pace = new Pace(50)
  expect(pace.isOver).toBe(false)
  compute(15)
  expect(pace.isOver).toBe(true)
  await pace.pause()
  expect(pace.isOver).toBe(false)
  compute(50)
  await expect(pace.pause()).rejects.toMatchObject({ code: 'query_range_too_wide' })
})
