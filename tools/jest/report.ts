import { appendFileSync } from 'node:fs'
import path from 'node:path'
import type { AggregatedResult, Reporter, Test } from '@jest/reporters'
import { underLoad } from '@restante/testkit/machine-load'

const root = path.resolve(import.meta.dirname, '../..')

/** A file that takes longer fails the run, unless `deploy/local/testing/slow-files.ts` names it. */
const BUDGET_MS = 20_000

/**
 * Counts a run: passed and failed tests, and the seconds of each file. A file that could not run at all counts as one
 * failure. `npm test` names a file in `RESTANTE_TEST_REPORT` for one line of JSON per run and prints their sum at the
 * end; without it the totals are printed here.
 */
export default class Report implements Pick<Reporter, 'onTestResult' | 'onRunComplete'> {
  /** What each file may take, in milliseconds, under the load at its end. */
  readonly #allowed = new Map<string, number>()

  onTestResult({ path: file }: Test): void {
    this.#allowed.set(file, underLoad(BUDGET_MS))
  }

  onRunComplete(_contexts: unknown, results: AggregatedResult): void {
    const passed = results.numPassedTests
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const files = results.testResults.map(({ testFilePath, perfStats }) => ({
      path: path.relative(root, testFilePath),
      seconds: (perfStats.end - perfStats.start) / 1_000,
      allowed: (this.#allowed.get(testFilePath) ?? BUDGET_MS) / 1_000,
    }))
    const file = process.env['RESTANTE_TEST_REPORT']
    if (file) appendFileSync(file, `${JSON.stringify({ passed, failed, files })}\n`)
    else process.stdout.write(`${passed} passed, ${failed} failed\n`)
  }
}
