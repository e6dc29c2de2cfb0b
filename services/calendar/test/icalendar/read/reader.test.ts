import { ParserCrashedError, ParserTimeoutError } from '@restante/mime/worker'
import { type CalendarReader, createCalendarReader } from '../../../src/icalendar/read/index.ts'
import { calendarFile, vevent } from '../../invitations/in/files.ts'

let reader: CalendarReader
beforeAll(() => {
  reader = createCalendarReader()
})
afterAll(() => reader.close())

const read = (text: string) => reader.read(Buffer.from(text))
const usual = { UID: 'a', DTSTAMP: '20261001T080000Z', SUMMARY: 'Lunch', ORGANIZER: 'mailto:boss@x.test' }
const MEGABYTE = 1024 * 1024

describe('a reader of calendar files', () => {
  it.each([
    ['a Windows name', 'W. Europe Standard Time', 'Europe/Berlin'],
    ['a path', '/citadel.org/20250101_1/America/New_York', 'America/New_York'],
    ['an address of Microsoft', 'tzone://Microsoft/Utc', 'UTC'],
    ['a name of the database', 'Asia/Kolkata', 'Asia/Kolkata'],
  ])('reads zones by %s', async (_, tzid, zone) => {
    const result = await read(calendarFile('REQUEST', vevent(usual, `DTSTART;TZID="${tzid}":20271007T090000`)))
    expect(result).toMatchObject({ file: { events: [{ start: { wall: '2027-10-07T09:00:00', zone } }] } })
  })

  it.each([
    ['00000101T000000Z', undefined],
    ['18991231T235959Z', undefined],
    ['19000101T000000Z', '1900-01-01T00:00:00.000Z'],
    ['99991231T235959Z', '9999-12-31T23:59:59.000Z'],
  ])('reads stamps of years that calendars have: %s', async (stamp, stampedAt) => {
    const event = vevent({ ...usual, DTSTAMP: stamp }, 'DTSTART:20271007T090000Z')
    const result = await read(calendarFile('REQUEST', event))
    expect('file' in result && result.file.events[0]?.stampedAt).toBe(stampedAt)
  })

  it('reads at most 50 events of a file', async () => {
    const dates = Array.from({ length: 51 }, (_, minute) => {
      const start = `20271007T09${String(minute).padStart(2, '0')}00Z`
      return vevent(usual, `DTSTART:${start}`, `RECURRENCE-ID:${start}`)
    })
    const result = await read(calendarFile('CANCEL', ...dates.slice(1)))
    expect('file' in result && result.file.events).toHaveLength(50)
    expect(await read(calendarFile('CANCEL', ...dates))).toEqual({ unreadable: 'too_many_events' })
  })

  it('reads every day that a week can start with', async () => {
    for (const day of ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']) {
      const event = vevent(usual, 'DTSTART:20271007T090000Z', `RRULE:FREQ=WEEKLY;WKST=${day}`)
      const result = await read(calendarFile('REQUEST', event))
      expect(result).toMatchObject({ file: { events: [{ rule: `FREQ=WEEKLY;WKST=${day}` }] } })
    }
  })

  it.each([
    ['nested components', 'BEGIN:VCALENDAR\r\n'.repeat(MEGABYTE / 17)],
    ['one folded line', `BEGIN:VCALENDAR\r\nX-A:${'a\r\n '.repeat(MEGABYTE / 4)}`],
    ['semicolons', `BEGIN:VCALENDAR\r\nX-A${';'.repeat(MEGABYTE)}`],
    ['quotes', `BEGIN:VCALENDAR\r\nX-A;B=${'"'.repeat(MEGABYTE)}`],
    ['parameters', `BEGIN:VCALENDAR\r\nX-A${';A=b'.repeat(MEGABYTE / 4)}:x`],
    ['NULs', '\0'.repeat(MEGABYTE)],
  ])('survives a megabyte of %s', async (_, text) => {
    const outcome = await read(text).then(
      (result) => ('file' in result ? 'file' : 'unreadable'),
      (error: unknown) => error instanceof ParserTimeoutError || error instanceof ParserCrashedError,
    )
    expect(['unreadable', true]).toContain(outcome)
    const after = await read(calendarFile('REQUEST', vevent(usual, 'DTSTART:20271007T090000Z')))
    expect(after).toMatchObject({ file: { uid: 'a' } })
  })
})
