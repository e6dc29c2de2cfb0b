import { spawn } from 'node:child_process'
import { root } from './settings.ts'

/**
 * Runs a Node program in this terminal, in the folder of the repository. Resolves to its exit code, or 130 when a signal
 * ended it. @param signal ends the program with SIGTERM.
 */
export function runNode(args: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit' })
    signal.addEventListener('abort', () => child.kill('SIGTERM'))
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 130))
  })
}
