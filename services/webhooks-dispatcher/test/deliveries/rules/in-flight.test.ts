import { InFlight, type Postponed } from '../../../src/delivery/slots/in-flight.ts'

const now = 1_000_000

/** Ten requests in flight to one receiver. */
function full(): InFlight {
  const inFlight = new InFlight(10)
  for (let request = 0; request < 10; request++) inFlight.enter('slow')
  return inFlight
}

function waits(inFlight: InFlight, count: number, at = now): number[] {
  return Array.from({ length: count }, (_, index) => inFlight.postpone('slow', `d${index}`, at).getTime() - at)
}

const idsOf = (postponed: readonly Postponed[]) => postponed.map(({ id }) => id)

describe('InFlight', () => {
  it('admits its maximum per key and no more, and again when one leaves', () => {
    const inFlight = full()
    expect(inFlight.enter('slow')).toBe(false)
    expect(inFlight.enter('other')).toBe(true)
    inFlight.leave('slow', 20)
    expect(inFlight.enter('slow')).toBe(true)
    expect(inFlight.enter('slow')).toBe(false)
  })

  it('lets a burst wait for a receiver that answers at once, in order, and admits as many as leave', async () => {
    const inFlight = full()
    inFlight.leave('slow', 20)
    inFlight.enter('slow')
    const admitted: number[] = []
    const waiting = [1, 2, 3].map(async (number) => {
      if (await inFlight.enterSoon('slow', `d${number}`)) admitted.push(number)
    })
    inFlight.leave('slow', 20)
    inFlight.leave('slow', 20)
    await Promise.all(waiting)
    expect(admitted).toEqual([1, 2])
    expect(inFlight.enter('slow')).toBe(false)
  })

  it('lets no delivery wait for a receiver that is slow, nor more than three for each slot', async () => {
    const slow = full()
    slow.leave('slow', 2_000)
    slow.enter('slow')
    expect(await slow.enterSoon('slow', 'd')).toBe(false)
    const fast = full()
    fast.leave('slow', 1)
    fast.enter('slow')
    const waiting = Array.from({ length: 30 }, (_, index) => fast.enterSoon('slow', `d${index}`))
    expect(await fast.enterSoon('slow', 'd30')).toBe(false)
    for (let request = 0; request < 30; request++) fast.leave('slow', 1)
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 30 }, () => true))
  })

  it('assigns retry times at twice the rate at which the receiver answers', () => {
    const inFlight = full()
    inFlight.leave('slow', 500)
    inFlight.enter('slow')
    expect(waits(inFlight, 4)).toEqual([100, 125, 150, 175])
  })

  it('has a great crowd come back at a hundred a second, and a small one sooner again', () => {
    const inFlight = full()
    inFlight.leave('slow', 15_000)
    inFlight.enter('slow')
    const perSecond = new Map<number, number>()
    const seconds = waits(inFlight, 40_000).map((wait) => Math.floor(wait / 1_000))
    for (const second of seconds.slice(20_000)) perSecond.set(second, (perSecond.get(second) ?? 0) + 1)
    expect(Math.max(...perSecond.values())).toBeLessThan(300)
    expect(Math.max(...seconds)).toBeLessThanOrEqual(400)
    expect(Math.max(...waits(inFlight, 100, now + 40_000))).toBeGreaterThan(200_000)
    expect(Math.max(...waits(inFlight, 100, now + 3_600_000))).toBeLessThanOrEqual(30_000)
  })

  it('has a crowd come back as fast as a fast receiver takes it', () => {
    const inFlight = full()
    inFlight.leave('slow', 20)
    inFlight.enter('slow')
    expect(Math.max(...waits(inFlight, 60_000))).toBeLessThanOrEqual(60_000)
  })

  it('assigns a small crowd no wait longer than half a minute, and spreads the retries', () => {
    const inFlight = full()
    inFlight.leave('slow', 15_000)
    inFlight.enter('slow')
    const late = waits(inFlight, 1_000).slice(100)
    expect(Math.max(...late)).toBeLessThanOrEqual(30_000)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(15_000)
    expect(new Set(late.map((wait) => Math.floor(wait / 1_000))).size).toBeGreaterThan(10)
  })

  it('calls for postponed deliveries when there is room, the earliest first, and for no more than can wait', async () => {
    const inFlight = full()
    waits(inFlight, 30)
    expect(idsOf(inFlight.leave('slow', 500))).toEqual(Array.from({ length: 21 }, (_, index) => `d${index}`))
    expect(await inFlight.enterSoon('slow', 'd0')).toBe(true)
    expect(idsOf(inFlight.leave('slow', 500))).toEqual(['d21'])
  })

  it('calls for one delivery per free slot of a receiver that is slow', () => {
    const inFlight = full()
    waits(inFlight, 30)
    expect(idsOf(inFlight.leave('slow', 2_000))).toEqual(['d0'])
    expect(idsOf(inFlight.leave('slow', 2_000))).toEqual(['d1'])
  })

  it('does not call for a delivery that came by itself', async () => {
    const inFlight = full()
    waits(inFlight, 2)
    expect(await inFlight.enterSoon('slow', 'd0')).toBe(false)
    expect(idsOf(inFlight.leave('slow', 500))).toEqual(['d1'])
  })

  it('calls for a delivery with the time that it was given', () => {
    const inFlight = full()
    const dueAt = inFlight.postpone('slow', 'd', now)
    expect(inFlight.leave('slow', 2_000)).toEqual([{ id: 'd', dueAt }])
  })

  it('calls for others when those called for have not come: another process may have taken them', () => {
    const inFlight = full()
    waits(inFlight, 30)
    expect(inFlight.leave('slow', 500, now)).toHaveLength(21)
    expect(inFlight.leave('slow', 500, now + 5_000)).toHaveLength(1)
    expect(inFlight.leave('slow', 500, now + 5_001)).toHaveLength(8)
  })

  it('learns nothing of a receiver from a slot that is given back, and calls for nobody', () => {
    const inFlight = full()
    inFlight.leave('slow', 500)
    inFlight.enter('slow')
    waits(inFlight, 1)
    inFlight.giveBack('slow')
    expect(inFlight.enter('slow')).toBe(true)
    expect(inFlight.enter('slow')).toBe(false)
    expect(waits(inFlight, 1)).toEqual([125])
  })

  it('goes on to call for postponed deliveries when all requests have ended together', async () => {
    const inFlight = full()
    waits(inFlight, 30)
    for (let request = 0; request < 10; request++) inFlight.leave('slow', 2_000)
    expect(await inFlight.enterSoon('slow', 'd0')).toBe(true)
    expect(idsOf(inFlight.leave('slow', 2_000))).toEqual(['d10'])
  })

  it('forgets a receiver with nothing in flight', () => {
    const inFlight = full()
    for (let request = 0; request < 10; request++) inFlight.leave('slow', 15_000)
    expect(waits(inFlight, 2)).toEqual([100, 100])
  })
})
