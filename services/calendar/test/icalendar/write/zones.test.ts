import { DAY_SECONDS, formatWallTime, Zone } from '@restante/recurrence'
import ICAL from 'ical.js'
import { written } from '../../../src/icalendar/write/jcal.ts'
import { timezoneComponent } from '../../../src/icalendar/write/timezone.ts'

const ZONES = [
  'Europe/Berlin',
  'Europe/Dublin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/Santiago',
  'America/Nuuk',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Jerusalem',
  'Asia/Gaza',
  'Asia/Kolkata',
  'Asia/Tehran',
  'Pacific/Apia',
  'Pacific/Auckland',
  'Pacific/Chatham',
  'Etc/UTC',
]

const textOf = (zone: string, from: string): string => written(timezoneComponent(zone, new Date(from)))

/** The offset of a wall time by what was written, as another program reads it. */
function reader(text: string): (wall: string) => number {
  const zone = new ICAL.Timezone(new ICAL.Component(ICAL.parse(text)))
  return (wall) => {
    const time = ICAL.Time.fromDateTimeString(wall)
    time.zone = zone
    return zone.utcOffset(time)
  }
}

describe('the description of a zone', () => {
  it.each(ZONES)('of %s says the same as its clocks, for twenty years', (name) => {
    const zone = Zone.of(name)
    const offsetOf = reader(textOf(name, '2011-06-15T12:00:00Z'))
    const wrong: string[] = []
    const start = Date.UTC(2011, 5, 16) / 1_000
    for (let at = start; at < start + 20 * 365 * DAY_SECONDS; at += 1.5 * DAY_SECONDS) {
      // Not within a day of a change, where a wall time is two instants, or none.
      if (zone.offsetAt(at - DAY_SECONDS) !== zone.offsetAt(at + DAY_SECONDS)) continue
      const wall = formatWallTime(zone.wallTimeOf(at))
      if (offsetOf(wall) !== zone.offsetAt(at)) wrong.push(wall)
    }
    expect(wrong).toEqual([])
  })

  it('has a rule where clocks follow one, and no other changes', () => {
    expect(textOf('America/New_York', '2026-10-05T13:00:00Z').split('\r\n')).toEqual([
      'BEGIN:VTIMEZONE',
      'TZID:America/New_York',
      'BEGIN:DAYLIGHT',
      'TZOFFSETFROM:-0500',
      'TZOFFSETTO:-0400',
      'DTSTART:20260308T020000',
      'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU',
      'END:DAYLIGHT',
      'BEGIN:STANDARD',
      'TZOFFSETFROM:-0400',
      'TZOFFSETTO:-0500',
      'DTSTART:20261101T020000',
      'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU',
      'END:STANDARD',
      'END:VTIMEZONE',
      '',
    ])
  })

  it('names every change where the days of a rule are in two months', () => {
    const lines = textOf('Africa/Cairo', '2026-01-05T13:00:00Z').split('\r\n')
    expect(lines.filter((line) => line.startsWith('RRULE'))).toEqual(['RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=-1FR'])
    expect(lines).toContain('RDATE:20301101T000000')
  })

  it('has clocks that are never changed', () => {
    expect(textOf('Asia/Kolkata', '2026-01-05T13:00:00Z')).toContain('TZOFFSETFROM:+0530\r\nTZOFFSETTO:+0530')
  })
})
