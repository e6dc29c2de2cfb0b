import { Temporal } from 'temporal-polyfill'
import { formatWallTime, isZoneName, Zone } from '../../src/index.ts'
import { at } from '../support.ts'

const instantOf = (zone: string, wall: string) => iso(Zone.of(zone).instantOf(at(wall)))
const wallTimeOf = (zone: string, instant: string) =>
  formatWallTime(Zone.of(zone).wallTimeOf(new Date(instant).getTime() / 1_000))

describe('a wall time', () => {
  it.each([
    // Skipped: later by as much as the clocks skip.
    ['Europe/Berlin', '2026-03-29T02:30:00', '2026-03-29T01:30:00Z', '2026-03-29T03:30:00'],
    ['America/New_York', '2026-03-08T02:30:00', '2026-03-08T07:30:00Z', '2026-03-08T03:30:00'],
    ['Australia/Lord_Howe', '2026-10-04T02:15:00', '2026-10-03T15:45:00Z', '2026-10-04T02:45:00'],
    ['Africa/Cairo', '2026-04-24T00:00:00', '2026-04-23T22:00:00Z', '2026-04-24T01:00:00'],
    ['Africa/Cairo', '2026-04-24T00:30:00', '2026-04-23T22:30:00Z', '2026-04-24T01:30:00'],
    ['Pacific/Apia', '2011-12-30T09:00:00', '2011-12-30T19:00:00Z', '2011-12-31T09:00:00'],
    // Around what is skipped.
    ['Europe/Berlin', '2026-03-29T01:59:59', '2026-03-29T00:59:59Z', '2026-03-29T01:59:59'],
    ['Europe/Berlin', '2026-03-29T03:00:00', '2026-03-29T01:00:00Z', '2026-03-29T03:00:00'],
    ['Pacific/Apia', '2011-12-29T23:59:59', '2011-12-30T09:59:59Z', '2011-12-29T23:59:59'],
    ['Pacific/Apia', '2011-12-31T00:00:00', '2011-12-30T10:00:00Z', '2011-12-31T00:00:00'],
    // Shown twice: the first of the two.
    ['Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T00:30:00Z', '2026-10-25T02:30:00'],
    ['Europe/Berlin', '2026-10-25T03:00:00', '2026-10-25T02:00:00Z', '2026-10-25T03:00:00'],
    ['America/New_York', '2026-11-01T01:30:00', '2026-11-01T05:30:00Z', '2026-11-01T01:30:00'],
    ['Australia/Lord_Howe', '2026-04-05T01:45:00', '2026-04-04T14:45:00Z', '2026-04-05T01:45:00'],
    ['Africa/Cairo', '2026-10-29T23:30:00', '2026-10-29T20:30:00Z', '2026-10-29T23:30:00'],
    // Long ago and in a long time.
    ['Africa/Monrovia', '1900-01-01T00:00:00', '1900-01-01T00:43:08Z', '1900-01-01T00:00:00'],
    ['Europe/Berlin', '9999-07-01T12:00:00', '9999-07-01T10:00:00Z', '9999-07-01T12:00:00'],
    ['America/New_York', '2500-01-01T00:00:00', '2500-01-01T05:00:00Z', '2500-01-01T00:00:00'],
  ])('%s %s is %s', (zone, wall, instant, shown) => {
    expect(instantOf(zone, wall)).toBe(instant)
    expect(wallTimeOf(zone, instant)).toBe(shown)
  })

  it('is in each zone the instant that Temporal says', () => {
    for (const name of ['Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns', 'Pacific/Chatham', 'Asia/Tehran']) {
      const zone = Zone.of(name)
      for (let day = 0; day < 400; day++) {
        const wall = formatWallTime(at('1900-06-01T01:40:00') + day * 86_400 * 7_351)
        const expected = Temporal.PlainDateTime.from(wall).toZonedDateTime(name).epochMilliseconds / 1_000
        expect([name, wall, zone.instantOf(at(wall))]).toEqual([name, wall, expected])
      }
    }
  })

  it('never gets an earlier instant than `earliestFrom` says of those before it', () => {
    const zone = Zone.of('Pacific/Apia')
    const start = at('2011-12-28T00:00:00')
    const times = Array.from({ length: 4 * 96 }, (_, index) => start + index * 900)
    for (const [index, time] of times.entries()) {
      const later = times.slice(index).map((each) => zone.instantOf(each))
      expect(zone.earliestFrom(time)).toBeLessThanOrEqual(Math.min(...later))
    }
  })
})

describe('the transitions of a zone', () => {
  it('are those between two instants, also far away', () => {
    const berlin = Zone.of('Europe/Berlin')
    const between = (from: string, to: string) =>
      berlin.transitions(Date.parse(from) / 1_000, Date.parse(to) / 1_000).map((each) => iso(each.at))
    expect(between('2026-01-01', '2027-01-01')).toEqual(['2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z'])
    expect(between('2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z')).toEqual(['2026-03-29T01:00:00Z'])
    expect(between('2026-03-29T01:00:01Z', '2026-10-25T01:00:00Z')).toEqual([])
    expect(between('9998-01-01', '9999-01-01')).toEqual(['9998-03-29T01:00:00Z', '9998-10-25T01:00:00Z'])
    expect(between('1980-01-01', '2580-01-01')).toHaveLength(1_200)
  })
})

describe('the name of a zone', () => {
  it.each([
    'UTC',
    'Europe/Berlin',
    'America/Argentina/Buenos_Aires',
    'Asia/Kolkata',
    'Asia/Calcutta',
    'Etc/GMT+5',
    'EST5EDT',
  ])('%s is known', (name) => {
    expect(isZoneName(name)).toBe(true)
    expect(Zone.of(name).name).toBe(name)
  })

  it.each(['', 'europe/berlin', 'UTC+1', '+01:00', 'PST', 'IST', 'W. Europe Standard Time', 'Factory', 'constructor'])(
    '%s is not known',
    (name) => {
      expect(isZoneName(name)).toBe(false)
      expect(() => Zone.of(name)).toThrow(RangeError)
    },
  )

  it('is known of each zone that the runtime lists', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((name) => !isZoneName(name))).toEqual([])
  })
})

function iso(instant: number): string {
  return new Date(instant * 1_000).toISOString().replace('.000Z', 'Z')
}
