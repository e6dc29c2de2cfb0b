import { htmlToText } from '../../../src/index.ts'
import type { ReplyCase } from './cases.ts'

/** Gives the new words of a body, as text or as html like the body; undefined when it cannot read this kind of body. */
export type Extract = (body: string, kind: ReplyCase['kind']) => string | undefined

/** What an extraction made of one case. */
export interface Outcome {
  readonly name: string
  readonly exact: boolean
  /** Words that the writer wrote and the extraction lost. */
  readonly lost: string[]
  readonly result: string
}

export interface Score {
  readonly cases: number
  readonly exact: number
  /** Cases in which at least one word of the writer is missing. */
  readonly losing: number
}

export function outcomeOf({ name, kind, body, expected }: ReplyCase, extract: Extract): Outcome | undefined {
  const extracted = extract(body, kind)
  if (extracted === undefined) return undefined
  const result = kind === 'html' ? htmlToText(extracted) : extracted
  return {
    name,
    exact: comparable(result, kind) === comparable(expected, kind),
    lost: lostWords(expected, result),
    result,
  }
}

export function scoreOf(outcomes: readonly Outcome[]): Score {
  return {
    cases: outcomes.length,
    exact: outcomes.filter(({ exact }) => exact).length,
    losing: outcomes.filter(({ lost }) => lost.length > 0).length,
  }
}

/**
 * What is compared. Text: without blanks at the ends of lines and empty lines around it. Html, rendered as text: also
 * without empty lines and the marks of quotes and lists, which are the renderer's, and with single spaces.
 */
function comparable(text: string, kind: ReplyCase['kind']): string {
  const lines = text
    .replace(/\r\n?/g, '\n')
    .replace(/[\u00a0\u202f\ufeff]/g, ' ')
    .split('\n')
  if (kind === 'text') {
    return lines
      .map((line) => line.trimEnd())
      .join('\n')
      .trim()
  }
  const shown = lines.map((line) =>
    line
      .replace(/\s+/g, ' ')
      .replace(/^(?: ?(?:>|-|\*|•)(?= |$))+/, '')
      .trim(),
  )
  return shown.filter((line) => line !== '').join('\n')
}

/** The words of a text that another lacks, each as often as it is missing. */
function lostWords(expected: string, result: string): string[] {
  const there = new Map<string, number>()
  for (const word of wordsIn(result)) there.set(word, (there.get(word) ?? 0) + 1)
  return wordsIn(expected).filter((word) => {
    const left = there.get(word) ?? 0
    there.set(word, left - 1)
    return left <= 0
  })
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
}
