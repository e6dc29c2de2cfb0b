/** One measured number. */
export interface Figure {
  /** What was measured, without the bench's name: `stream p50, 50/s`. */
  readonly name: string
  readonly value: number
  readonly unit: Unit
  /** The same thing done by something else in the same run. */
  readonly beside?: { readonly what: string; readonly value: number }
  /** What we hold ourselves to on an idle machine. It is shown, never enforced. */
  readonly goal?: Goal
}

export type Unit = 'ms' | 'µs' | '/s' | 'MB' | '%'
export type Goal = { readonly atMost: number } | { readonly atLeast: number }

/** A figure with the bench that it comes from, as it is printed and written. */
export interface ReportedFigure extends Figure {
  readonly bench: string
  /** Ours through theirs. */
  readonly ratio?: number
  readonly goalMet?: boolean
}

export function reported(bench: string, figure: Figure): ReportedFigure {
  const { beside, goal, value } = figure
  return {
    bench,
    ...figure,
    ...(beside && beside.value !== 0 && { ratio: value / beside.value }),
    ...(goal && { goalMet: isMet(goal, value) }),
  }
}

function isMet(goal: Goal, value: number): boolean {
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast
}
