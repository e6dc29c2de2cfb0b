import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readSettings, root } from '../settings.ts'
import { runOnEngines } from './on-engines.ts'

const nothingRan = '0 passed, 0 failed'

/**
 * `npm test`: every suite on the real engines. Arguments are jest's: a path runs the suites below it. The last line is
 * `N passed, N failed`; the exit code is not 0 when a test failed or none ran.
 */
export async function test(args: readonly string[]): Promise<number> {
  const run = join(readSettings(process.env).state, 'run')
  const totals = join(run, `test-totals-${process.pid}`)
  const jest = join(root, 'node_modules/jest/bin/jest.js')
  const options = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', jest, '--maxWorkers=2']
  try {
    await mkdir(run, { recursive: true })
    const code = await runOnEngines([...options, ...args], { RESTANTE_TEST_TOTALS: totals })
    const line = await readFile(totals, 'utf8').catch(() => nothingRan)
    process.once('exit', () => process.stdout.write(`${line}\n`))
    return line === nothingRan ? code || 1 : code
  } finally {
    await rm(totals, { force: true })
  }
}
