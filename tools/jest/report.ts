import { appendFileSync } from 'node:fs'
import path from 'node:path'
import type { AggregatedResult, Reporter, Test, TestResult } from '@jest/reporters'
import { onThisMachine, underLoad } from '@restante/testkit/machine-load'
import { sharesSystem } from './shared-system.ts'

const root = path.resolve(import.meta.dirname, '../..')

/**
 * A file that takes longer each time that it runs fails the run, unless `deploy/local/testing/slow-files.ts` names it. The
 * budget grows with the load and with the slowness of the machine.
 */
const BUDGET_MS = 20_000

/**
 * Counts a run: passed and failed tests, and the seconds of each file. A file that could not run at all counts as one
 * failure. `npm test` names a file in `RESTANTE_TEST_REPORT` for one line of JSON per run and prints their sum at the
 * end; without it the totals are printed here.
 */
export default class Report implements Pick<Reporter, 'onTestResult' | 'onRunComplete'> {
  /** What each file over the budget may take, in milliseconds, on the machine as it is at its end. */
  readonly #allowed = new Map<string, number>()

  onTestResult({ path: file }: Test, result: TestResult): void {
    // Only then, because measuring the machine takes processor time from the tests.
    if (millisecondsOf(result) > BUDGET_MS) this.#allowed.set(file, onThisMachine(underLoad(BUDGET_MS)))
  }

  onRunComplete(_contexts: unknown, results: AggregatedResult): void {
    const passed = results.numPassedTests
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const files = results.testResults.map((result) => ({
      path: path.relative(root, result.testFilePath),
      seconds: millisecondsOf(result) / 1_000,
      allowed: (this.#allowed.get(result.testFilePath) ?? BUDGET_MS) / 1_000,
    }))
    const file = process.env['RESTANTE_TEST_REPORT']
    if (file) appendFileSync(file, `${JSON.stringify({ passed, failed, files })}\n`)
    else process.stdout.write(`${passed} passed, ${failed} failed\n`)
  }
}

/** What a file took. The start of the system that files share happens to be waited for in one of them, and counts for none. */
function millisecondsOf({ testFilePath, perfStats, testResults }: TestResult): number {
  if (!sharesSystem(testFilePath)) return perfStats.end - perfStats.start
  return testResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0)
}
