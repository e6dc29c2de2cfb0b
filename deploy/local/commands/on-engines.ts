import { spawn } from 'node:child_process'
import { leaveEngines, useEngines } from '../engines/engines.ts'
import { ensurePeers } from '../engines/packages.ts'
import { readSettings, root } from '../settings.ts'

/**
 * Runs a Node program that makes databases and topics of its own, with the engines up and named in its environment, and
 * leaves them afterwards. Ctrl-C and SIGTERM end the program first. Resolves to its exit code, 130 when it was ended.
 */
export async function runOnEngines(args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<number> {
  const settings = readSettings(process.env)
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
  try {
    await ensurePeers()
    const urls = await useEngines(settings, process.env)
    if (interrupted.signal.aborted) return 130
    return await runNode(args, { ...process.env, ...urls, ...more }, interrupted.signal)
  } finally {
    await leaveEngines(settings)
  }
}

function runNode(args: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit' })
    signal.addEventListener('abort', () => child.kill('SIGTERM'))
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 130))
  })
}
