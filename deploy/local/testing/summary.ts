import { readFile } from 'node:fs/promises'
import { z } from 'zod'

const round = z.object({
  passed: z.int(),
  failed: z.int(),
  files: z.array(z.object({ path: z.string(), seconds: z.number(), allowed: z.number() })),
})

/** One run of jest, or the sum of several. */
export type Summary = z.infer<typeof round>

/** A test file with its duration and its time limit. */
export type SlowFile = Summary['files'][number]

const SHOWN = 20

/** Adds up the reports of the rounds, one line of JSON each (`tools/jest/report.ts`). */
export async function readSummary(file: string): Promise<Summary> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const rounds = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => round.parse(JSON.parse(line)))
  return {
    passed: rounds.reduce((sum, { passed }) => sum + passed, 0),
    failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
    files: rounds.flatMap(({ files }) => files),
  }
}

/** The slowest files, slowest first, one line each. */
export function slowestFiles({ files }: Summary): string {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SHOWN)
  return slowest.map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}\n`).join('')
}

/** Files that took longer than they may. @param listed files that may take longer, with the reason. */
export function overBudget({ files }: Summary, listed: ReadonlyMap<string, string>): SlowFile[] {
  return files.filter(({ path, seconds, allowed }) => !listed.has(path) && seconds > allowed)
}
