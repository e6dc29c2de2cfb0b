const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Obsolete zone names of RFC 5322 4.3, in hours; any other name means UTC there. */
const ZONES: ReadonlyMap<string, number> = new Map([
  ['EST', -5],
  ['EDT', -4],
  ['CST', -6],
  ['CDT', -5],
  ['MST', -7],
  ['MDT', -6],
  ['PST', -8],
  ['PDT', -7],
])

const RFC_5322 =
  /(\d{1,2})[ -]+([A-Za-z]{3})[A-Za-z]*\.?[ -]+(\d{2,4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([+-]\d{4}|[A-Za-z]+)?/
const RFC_3339 = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/

/** The instant of a Date header (RFC 5322 3.3, with its obsolete forms), or undefined when it contains none. */
export function parseDate(value: string): Date | undefined {
  const text = value.slice(0, 200).trim()
  if (RFC_3339.test(text)) return inRange(Date.parse(text.replace(' ', 'T')))
  const [, day, month, year, hour, minute, second = '0', zone = 'UT'] = RFC_5322.exec(text) ?? []
  const monthIndex = MONTHS.indexOf(month?.toLowerCase() ?? '')
  if (monthIndex < 0 || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  if (Number(day) < 1 || Number(day) > 31) return undefined
  const local = Date.UTC(fullYear(year ?? ''), monthIndex, Number(day), Number(hour), Number(minute), Number(second))
  return inRange(local - zoneMinutes(zone) * 60_000)
}

function fullYear(text: string): number {
  const year = Number(text)
  if (text.length === 2) return year < 50 ? 2000 + year : 1900 + year
  return text.length === 3 ? 1900 + year : year
}

function zoneMinutes(zone: string): number {
  if (!/^[+-]/.test(zone)) return (ZONES.get(zone.toUpperCase()) ?? 0) * 60
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5))
  return zone.startsWith('-') ? -minutes : minutes
}

function inRange(time: number): Date | undefined {
  const date = new Date(time)
  return date.getTime() >= 0 ? date : undefined
}
