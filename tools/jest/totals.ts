import { appendFileSync } from 'node:fs'
import type { AggregatedResult, Reporter } from '@jest/reporters'

/**
 * Counts a run as `N passed, N failed`. A suite that could not run counts as one failure. `npm test` passes a file that
 * collects the lines of its runs and prints their sum at the end; without one the line is printed here.
 */
export default class Totals implements Pick<Reporter, 'onRunComplete'> {
  onRunComplete(_contexts: unknown, results: AggregatedResult): void {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const line = `${results.numPassedTests} passed, ${failed} failed`
    const file = process.env['RESTANTE_TEST_TOTALS']
    if (file) appendFileSync(file, `${line}\n`)
    else process.stdout.write(`${line}\n`)
  }
}
