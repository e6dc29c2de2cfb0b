import { execFileSync } from 'node:child_process'

/** Whether a program is installed. `npm test` installs the programs of the tests where it can (Debian, as root). */
export function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export interface Needs {
  readonly programs: readonly string[]
  /** Whether one of them needs root. */
  readonly root?: boolean
  /** What else is known to be missing. */
  readonly missing?: readonly string[]
}

/** Tests that need external programs. On a machine without these they are counted as skipped. */
export function describeWith(needs: Needs, name: string, tests: () => void): void {
  const { programs, root = false } = needs
  const missing = [...programs.filter((program) => !isInstalled(program)), ...(needs.missing ?? [])]
  if (root && process.getuid?.() !== 0) missing.push('the rights of root')
  if (missing.length === 0) describe(name, tests)
  else describe.skip(`${name} (missing: ${missing.join(', ')})`, tests)
}
