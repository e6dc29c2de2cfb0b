import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { sharesSystem } from '@restante/tools/jest/shared-system.ts'
import { currentRun } from './run.ts'

/** Lines that are printed of one failed file: the last ones. */
const AT_MOST = 20

/** The parts of jest's descriptions of a file and of its outcome that are of use here. */
interface TestFile {
  readonly path: string
}
interface Outcome {
  readonly numFailingTests: number
  readonly perfStats: { readonly start: number }
}

/**
 * A reporter of jest that prints what the services of the shared system logged as errors while a file ran that failed.
 * Their logs are gone at the end of the run, and a response of 503 does not tell its cause.
 */
export default class ErrorsOfServices {
  onTestFileResult({ path: file }: TestFile, { numFailingTests, perfStats }: Outcome): void {
    if (numFailingTests === 0 || !sharesSystem(file)) return
    const errors = errorsSince(new Date(perfStats.start).toISOString())
    if (errors.length === 0) return
    const lines = errors.slice(-AT_MOST).map((line) => `  ${line}\n`)
    process.stdout.write(
      `Errors that services logged during ${path.basename(file)}, the last ${lines.length} of ${errors.length}:\n${lines.join('')}`,
    )
  }
}

/** @param since as lines of a log have it: RFC 3339, UTC. @returns the lines of all services, in the order of time. */
function errorsSince(since: string): string[] {
  const { folder } = currentRun()
  // The file may have failed before the system was started.
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').split('\n'))
    .map((line) => ({ line, time: /^\{"level":"(?:error|fatal)","time":"([^"]+)"/.exec(line)?.[1] ?? '' }))
    .filter(({ time }) => time >= since)
    .toSorted((one, other) => one.time.localeCompare(other.time))
    .map(({ line }) => line)
}
