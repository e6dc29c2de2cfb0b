/** One measured number. */
export interface Figure {
  /** What was measured, without the name of the bench: `stream p50, 50/s`. */
  readonly name: string
  readonly value: number
  readonly unit: Unit
  /** The same measurement of another program in the same run. */
  readonly reference?: { readonly what: string; readonly value: number }
  /** The goal on an idle machine. It is printed, never enforced. */
  readonly goal?: Goal
}

export type Unit = 'ms' | 'µs' | '/s' | 'MB' | 'KB' | '%' | 'rows'
export type Goal = { readonly atMost: number } | { readonly atLeast: number }

/** A figure with its bench, as it is printed and written. */
export interface ReportedFigure extends Figure {
  readonly bench: string
  /** The measured value divided by the reference. */
  readonly ratio?: number
  readonly goalMet?: boolean
}

export function reported(bench: string, figure: Figure): ReportedFigure {
  const { reference, goal, value } = figure
  return {
    bench,
    ...figure,
    ...(reference && reference.value !== 0 && { ratio: value / reference.value }),
    ...(goal && { goalMet: isMet(goal, value) }),
  }
}

function isMet(goal: Goal, value: number): boolean {
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast
}
