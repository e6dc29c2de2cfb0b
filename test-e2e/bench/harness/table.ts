import type { Goal, ReportedFigure, Unit } from './figures.ts'

const HEAD = ['bench', 'figure', 'measured', 'reference', 'ratio', 'goal'] as const

/** Figures as an aligned table for the terminal. */
export function table(figures: readonly ReportedFigure[]): string {
  const rows = [HEAD, ...figures.map(cells)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 2 || column === 4 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return rows.map(line).join('\n')
}

function cells({ bench, name, value, unit, reference, ratio, goal, goalMet }: ReportedFigure): string[] {
  return [
    bench,
    name,
    amount(value, unit),
    reference ? `${reference.what}: ${amount(reference.value, unit)}` : '',
    ratio === undefined ? '' : ratio.toFixed(2),
    goal ? `${goalMet ? 'holds' : 'MISSED'}: ${words(goal, unit)}` : '',
  ]
}

function words(goal: Goal, unit: Unit): string {
  return 'atMost' in goal ? `at most ${amount(goal.atMost, unit)}` : `at least ${amount(goal.atLeast, unit)}`
}

function amount(value: number, unit: Unit): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return `${value.toFixed(digits)} ${unit}`
}
