import { spawn } from 'node:child_process'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { leaveEngines, useEngines } from '../engines/engines.ts'
import { ensurePeers } from '../engines/packages.ts'
import { say } from '../progress.ts'
import { readSettings, root } from '../settings.ts'

const nothingRan = '0 passed, 0 failed'

/**
 * `npm test`: every suite on the real engines. Arguments are jest's: a path runs the suites below it. The last line is
 * `N passed, N failed`; the exit code is not 0 when a test failed or none ran.
 */
export async function test(args: readonly string[]): Promise<number> {
  const settings = readSettings(process.env)
  const run = join(settings.state, 'run')
  const totals = join(run, `test-totals-${process.pid}`)
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
  try {
    await mkdir(run, { recursive: true })
    await ensurePeers()
    const urls = await useEngines(settings, process.env)
    if (interrupted.signal.aborted) return 130
    say('Tests ...')
    const code = await runJest(args, { ...process.env, ...urls, RESTANTE_TEST_TOTALS: totals }, interrupted.signal)
    const line = await readFile(totals, 'utf8').catch(() => nothingRan)
    process.once('exit', () => process.stdout.write(`${line}\n`))
    return line === nothingRan ? code || 1 : code
  } finally {
    await rm(totals, { force: true })
    await leaveEngines(settings)
  }
}

function runJest(args: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  const jest = join(root, 'node_modules/jest/bin/jest.js')
  const options = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', jest, '--maxWorkers=2']
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...options, ...args], { cwd: root, env, stdio: 'inherit' })
    signal.addEventListener('abort', () => child.kill('SIGTERM'))
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 130))
  })
}
