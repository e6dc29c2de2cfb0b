import { formatDay, formatWallTime, parseDay, parseWallTime } from '../src/index.ts'
import { dateOf, dayOf, weekdayOf } from '../src/wall/wall-time.ts'

describe('a wall time', () => {
  it('is the one of a clock that is never changed', () => {
    for (let day = -719_528; day < 2_932_897; day += 97) {
      const date = new Date(day * 86_400_000)
      const civil = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
      expect([dateOf(day), dayOf(civil), weekdayOf(day)]).toEqual([civil, day, (date.getUTCDay() + 6) % 7])
    }
  })

  it.each([
    ['0000-03-01', -719_468, 2],
    ['0099-12-31', -683_004, 3],
    ['1900-03-01', -25_508, 3],
    ['1970-01-01', 0, 3],
    ['2000-02-29', 11_016, 1],
    ['2026-11-26', 20_783, 3],
    ['9999-12-31', 2_932_896, 4],
  ])('%s is day %d', (text, day, weekday) => {
    expect([parseDay(text), formatDay(day), weekdayOf(day)]).toEqual([day, text, weekday])
  })

  it.each(['1900-01-01T00:00:00', '1969-12-31T23:59:59', '2024-02-29T12:30:01', '9999-12-31T23:59:59'])(
    '%s is read and written',
    (text) => {
      const time = parseWallTime(text)
      expect(time).toBe(Date.parse(`${text}Z`) / 1_000)
      expect(formatWallTime(time ?? 0)).toBe(text)
      expect(formatDay(parseDay(text.slice(0, 10)) ?? 0)).toBe(text.slice(0, 10))
    },
  )

  it.each([
    '2023-02-29T00:00:00',
    '2024-13-01T00:00:00',
    '2024-01-01T24:00:00',
    '2024-01-01T00:60:00',
    '2024-01-01T00:00:60',
    '2024-01-01T00:00:00Z',
    '2024-01-01 00:00:00',
    '2024-1-1T00:00:00',
    '',
  ])('%j is none', (text) => {
    expect(parseWallTime(text)).toBeUndefined()
  })
})
