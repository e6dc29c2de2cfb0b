import type { Figure } from '../../harness/figures.ts'
import type { Snapshot } from './snapshot.ts'

/** Below that a difference says nothing: a tick of the clock, a page of a table. */
const LEAST = { ms: 0.05, KB: 0.05, rows: 0.01 } as const

/** What each of `count` things has cost between two snapshots: a figure for everything of which it has used some. */
export function costsOf(what: string, count: number, before: Snapshot, after: Snapshot): Figure[] {
  return [...after].flatMap(([name, { value, unit }]) => {
    const each = (value - (before.get(name)?.value ?? 0)) / count
    return each < LEAST[unit] ? [] : [{ name: `${what}: ${name}`, value: each, unit }]
  })
}
