import { byLength, underLoad, waitFor } from '@restante/testkit'
import { datedId } from '../../src/model/dated-id.ts'
import type { EventState } from '../../src/model/rows.ts'
import { series } from '../dates/states.ts'
import { BoundaryStack, type Told } from './boundary-stack.ts'
import { SECOND, utc, wall } from './moments.ts'

/** Boundaries of one-off events and of dates of series, two of each, over so many seconds from a time after all are stored. */
const { oneOffs, repeated, dates, seconds, lead } = byLength({
  short: { oneOffs: 80, repeated: 24, dates: 3, seconds: 6, lead: 8 },
  long: { oneOffs: 2_500, repeated: 500, dates: 5, seconds: 60, lead: 60 },
})
const BOUNDARIES = 2 * (oneOffs + repeated * dates)
/** Of 99 in a hundred. */
const MOST_LATE = 5 * SECOND
const TIMEOUT = (lead + seconds + 60) * SECOND

let stack: BoundaryStack
beforeAll(async () => {
  stack = await BoundaryStack.create()
})
afterAll(() => stack.stop())

it(
  'tells each boundary once although replicas compete, one is killed, and events change meanwhile',
  async () => {
    const [, second] = await Promise.all([stack.replica(), stack.replica()])
    const from = Date.now() + underLoad(lead * SECOND)
    const given = [...onceEach(from), ...severalTimes(from)]
    const states: EventState[] = []
    for (let at = 0; at < given.length; at += 8) {
      states.push(...(await Promise.all(given.slice(at, at + 8).map((state) => stack.create(state)))))
    }
    expect(Date.now()).toBeLessThan(from)
    const isHalf = async () => (await stack.count()) >= BOUNDARIES / 2
    await waitFor(isHalf, { what: 'half of the boundaries', timeout: TIMEOUT, interval: 100 })
    await second.stop()
    const limits = [underLoad(MOST_LATE)]
    for (const state of states.slice(0, 20)) {
      await stack.change(state, (stored) => ({ ...stored, event: { ...stored.event, title: 'Changed' } }))
    }
    await stack.finished(TIMEOUT)
    limits.push(underLoad(MOST_LATE))
    const told = await stack.told(...states)
    expect(told).toHaveLength(BOUNDARIES)
    expect(new Set(told.map(({ event_id }) => event_id))).toEqual(new Set(states.flatMap(idsOf)))
    const late = told.map(lateness).sort((a, b) => a - b)
    expect(late[0]).toBeGreaterThanOrEqual(0)
    const p99 = late[Math.ceil(late.length * 0.99) - 1]
    if (process.env['PRINT_FIGURES']) {
      process.stderr.write(
        `${BOUNDARIES} boundaries: median ${late[late.length / 2]} ms late, p99 ${p99}, most ${late.at(-1)}\n`,
      )
    }
    // Of few, those that the killed process held are more than one in a hundred.
    if (byLength({ short: false, long: true })) expect(p99).toBeLessThan(Math.max(...limits))
  },
  2 * TIMEOUT,
)

/** Events whose starts and ends lie in the time. */
function onceEach(from: number): EventState[] {
  return Array.from({ length: oneOffs }, (_, index) => {
    const start = (index % (seconds / 2)) * SECOND
    return utc(wall(start, from), wall(start + (seconds / 2) * SECOND, from), { seen_until: new Date() })
  })
}

/** Series whose dates lie in the time one after another. */
function severalTimes(from: number): EventState[] {
  const interval = seconds / dates
  const rule = `FREQ=SECONDLY;INTERVAL=${interval};COUNT=${dates}`
  return Array.from({ length: repeated }, (_, index) => {
    const start = (index % (interval / 2)) * SECOND
    const end = start + (interval / 2) * SECOND
    const times = { start: wall(start, from), end: wall(end, from), timezone: 'UTC', rule }
    return series(times, { seen_until: new Date() })
  })
}

function idsOf({ event }: EventState): string[] {
  const starts = Array.from({ length: dates }, (_, index) =>
    wall((index * SECOND * seconds) / dates, Date.parse(`${event.start}Z`)),
  )
  const ids = event.rule === null ? [`${event.id}_single`] : starts.map((start) => datedId(event.id, start))
  return ids.flatMap((id) => [`${id}.start`, `${id}.end`])
}

function lateness({ time, scheduled_at }: Told): number {
  return time.getTime() - Date.parse(scheduled_at)
}
