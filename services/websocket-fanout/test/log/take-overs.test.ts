import { randomUUID } from 'node:crypto'
import { mock } from 'node:test'
import { LIMITS } from '@restante/contracts/vocabulary'
import { TakeOvers } from '../../src/log/take-overs.ts'

const MINUTE_MS = 60_000

describe('the take-overs that an instance knows of', () => {
  let now = 0
  beforeEach(() => {
    mock.method(performance, 'now', () => now)
  })
  afterEach(() => mock.restoreAll())

  const entryOf = (organization_id: string, take_overs: number) => ({
    payload: JSON.stringify({ organization_id, take_overs }),
  })

  it('are those of a day: the log keeps no entry for longer either', () => {
    const takeOvers = new TakeOvers()
    const [early, late] = [randomUUID(), randomUUID()]
    takeOvers.note(entryOf(early, 1))
    now += LIMITS.stream.log - MINUTE_MS
    takeOvers.note(entryOf(late, 1))
    expect(takeOvers.isSuperseded({ organization_id: early })).toBe(true)
    now += 2 * MINUTE_MS
    takeOvers.note(entryOf(randomUUID(), 1))
    expect(takeOvers.isSuperseded({ organization_id: early })).toBe(false)
    expect(takeOvers.isSuperseded({ organization_id: late })).toBe(true)
  })

  it('last a day from the last one of their organization, whose number is the highest', () => {
    const takeOvers = new TakeOvers()
    const [organization_id, other] = [randomUUID(), randomUUID()]
    takeOvers.note(entryOf(organization_id, 2))
    takeOvers.note(entryOf(other, 1))
    now += LIMITS.stream.log - MINUTE_MS
    takeOvers.note(entryOf(organization_id, 1))
    now += 2 * MINUTE_MS
    takeOvers.note(entryOf(randomUUID(), 1))
    expect(takeOvers.isSuperseded({ organization_id, take_overs: 1 })).toBe(true)
    expect(takeOvers.isSuperseded({ organization_id, take_overs: 2 })).toBe(false)
    expect(takeOvers.isSuperseded({ organization_id: other })).toBe(false)
  })
})
