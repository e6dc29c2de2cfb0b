/** Years of the Gregorian, the Persian and the Thai calendar. */
const YEAR = '(?:1[34]|19|20|25)\\d\\d'
const WORD = '[^\\s\\d,]{2,14}'
const SPACE = '\\s{1,3}'

/** Dates as clients write them, in any language: what is neither a number nor a mark is a month. */
const FORMS = [
  `${YEAR}\\s?[年년.]\\s?\\d{1,2}\\s?[月월.]\\s?\\d{1,2}\\s?[日일.]?`,
  `${YEAR}[-/]\\d{1,2}[-/]\\d{1,2}`,
  '\\d{1,4}\\s?[-/.]\\s?\\d{1,2}\\s?[-/.]\\s?\\d{2,4}',
  `\\d{1,2}[-/]${WORD}[-/]\\d{2,4}`,
  `\\d{1,2}(?:st|nd|rd|th|er|\\.|º|°)?,?${SPACE}(?:(?:de|of)${SPACE})?${WORD}[.,]?${SPACE}(?:(?:del?|of|\\d{1,2},?)${SPACE})?${YEAR}`,
  `${WORD}${SPACE}\\d{1,2}(?:st|nd|rd|th)?,?${SPACE}(?:at${SPACE})?${YEAR}`,
  `${YEAR}\\.?,?${SPACE}(?:[gm]\\.${SPACE})?(?:${WORD}${SPACE}\\d{1,2}|\\d{1,2}\\.?${SPACE}${WORD})`,
  `${WORD}${SPACE}\\d{1,2}${SPACE}\\d{1,2}:\\d\\d(?::\\d\\d)?${SPACE}${YEAR}`,
]

/** A date with its year, on a folded line. */
export const DATE = `(?<!\\d)(?:${FORMS.join('|')})(?!\\d)`

/** A time of day, on a folded line. */
export const TIME = '(?<![\\d.])\\d{1,2}\\s?[:.h点點時시]\\s?\\d{2}(?!\\d)'

/** An address, on a folded line. */
export const ADDRESS = '[^\\s<>()[\\]@"\',;:]{1,64}@[^\\s<>()[\\]@"\',;:]{1,255}'

/**
 * The names of the days of the week, long and short, folded, in the languages whose attributions begin with one, without
 * an opening word.
 */
export function isWeekday(word: string): boolean {
  weekdays ??= namesOfDays()
  return weekdays.has(word)
}

const LOCALES = 'en de nb fi ru uk pl cs sk hr sr sl hu tr th hi'

let weekdays: ReadonlySet<string> | undefined

function namesOfDays(): ReadonlySet<string> {
  const names = new Set<string>()
  for (const locale of LOCALES.split(' ')) {
    for (const weekday of ['long', 'short'] as const) {
      const format = new Intl.DateTimeFormat(locale, { weekday, timeZone: 'UTC' })
      for (let day = 1; day <= 7; day++) names.add(plain(format.format(new Date(Date.UTC(2026, 0, day)))))
    }
  }
  return names
}

/** Without the marks that some clients leave out. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[.,]+$/, '')
}
