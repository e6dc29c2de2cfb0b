import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readSettings, root } from '../settings.ts'
import { runOnEngines } from './on-engines.ts'

/**
 * Tests that load the whole machine run when all others are done, one file at a time. The others spend much of their
 * time waiting, so that two cores are enough for three at once.
 */
const rounds = [
  ['--maxWorkers=3', String.raw`--testPathIgnorePatterns=\.alone\.test\.ts$`],
  ['--runInBand', '--testMatch=<rootDir>/test-e2e/**/*.alone.test.ts'],
]

/**
 * `npm test`: every suite on the real engines. Arguments are jest's: a path runs the suites below it. The last line is
 * `N passed, N failed`; the exit code is not 0 when a test failed or none ran.
 */
export async function test(args: readonly string[]): Promise<number> {
  const run = join(readSettings(process.env).state, 'run')
  const totals = join(run, `test-totals-${process.pid}`)
  const jest = join(root, 'node_modules/jest/bin/jest.js')
  const options = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', jest, '--passWithNoTests']
  // In this order: the options of a round take every following word as one of their patterns.
  const programs = rounds.map((round) => [...options, ...args, ...round])
  try {
    await mkdir(run, { recursive: true })
    const code = await runOnEngines(programs, { RESTANTE_TEST_TOTALS: totals })
    const { passed, failed } = await readTotals(totals)
    process.once('exit', () => process.stdout.write(`${passed} passed, ${failed} failed\n`))
    return passed + failed === 0 ? code || 1 : code
  } finally {
    await rm(totals, { force: true })
  }
}

/** The sum of what the rounds counted. */
async function readTotals(file: string): Promise<{ passed: number; failed: number }> {
  const sum = { passed: 0, failed: 0 }
  const text = await readFile(file, 'utf8').catch(() => '')
  for (const [, passed, failed] of text.matchAll(/^(\d+) passed, (\d+) failed$/gm)) {
    sum.passed += Number(passed)
    sum.failed += Number(failed)
  }
  return sum
}
