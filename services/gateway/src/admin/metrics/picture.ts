import { RATE_TYPES } from '@restante/contracts/vocabulary'
import type { OrganizationMetrics } from '../operator/metrics.ts'
import { moment } from '../output/table.ts'
import { type Periods, periodText } from './periods.ts'
import { sparkline } from './sparkline.ts'

/** Columns of a picture: together with names and numbers it fits into 80. */
export const COLUMNS = 34
const NUMBER_COLUMNS = 10

/** A series as a line: its name, its bars, and one number. */
type Line = readonly [name: string, bars: string, number: string]

/** Draws what happened in an organization, for a terminal of 80 columns. */
export function picture({ events, usage, rates }: OrganizationMetrics, periods: Periods): string {
  const groups: readonly (readonly [title: string, lines: readonly Line[]])[] = [
    ['EVENTS', Object.entries(events).map(([name, counts]) => [name, sparkline(counts), countText(sum(counts))])],
    ['USAGE', Object.entries(usage).map(([name, totals]) => [name, growth(totals), totalText(name, totals.at(-1))])],
    ['RATES', RATE_TYPES.map((name) => [name, sparkline(rates[name] ?? []), rateText(rates[name]?.at(-1))])],
  ]
  const width = Math.max(...groups.flatMap(([, lines]) => lines.map(([name]) => name.length)))
  const draw = ([name, bars, number]: Line) =>
    `${name.padEnd(width)}  ${bars.padEnd(periods.points)}  ${number.padStart(NUMBER_COLUMNS)}`
  const numbers = { EVENTS: 'total', USAGE: 'now', RATES: 'now' } as const satisfies Record<string, string>
  const heading = `${moment(new Date(periods.from))} to ${moment(new Date(periods.to))} UTC, ${periodText(periods.period)} a bar`
  const parts = groups.map(([title, lines]) => {
    const number = title in numbers ? numbers[title as keyof typeof numbers] : ''
    return [draw([title, '', number]), ...lines.map(draw)].join('\n')
  })
  return [heading, ...parts].join('\n\n')
}

/** Running totals between the lowest and the highest one: what is drawn is how they change. */
function growth(totals: readonly number[]): string {
  return sparkline(totals, totals.length === 0 ? 0 : Math.min(...totals))
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

const grouped = new Intl.NumberFormat('en-US')
/** A number that is too long for its column is shortened. */
const shortened = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })

function countText(count: number): string {
  const text = grouped.format(count)
  return text.length <= NUMBER_COLUMNS ? text : shortened.format(count)
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

function totalText(name: string, total = 0): string {
  if (!name.endsWith('_bytes')) return countText(total)
  const power = Math.min(Math.floor(Math.log10(Math.max(Math.abs(total), 1)) / 3), BYTE_UNITS.length - 1)
  return `${power === 0 ? total : (total / 1_000 ** power).toFixed(1)} ${BYTE_UNITS[power]}`
}

/** A share in percent; a dash where nothing was sent. */
function rateText(rate: number | null | undefined): string {
  return rate === null || rate === undefined ? '-' : `${(rate * 100).toFixed(2)} %`
}
