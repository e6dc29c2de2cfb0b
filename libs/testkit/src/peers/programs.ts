import { execFileSync } from 'node:child_process'
import { byLength } from '@restante/service/testing'

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
  /** Packages of libraries that are known to be absent. */
  readonly packages?: readonly string[]
  /** What else is known to be missing. */
  readonly missing?: readonly string[]
}

/** Debian's packages of programs that are named otherwise. */
const PACKAGES: Readonly<Record<string, string>> = {
  clamd: 'clamav-daemon',
  go: 'golang-go, version 1.25 or later',
  knotc: 'knot',
  knotd: 'knot',
  mvn: 'maven',
  'named-checkzone': 'bind9-utils',
  versitygw: 'golang-go, with which deploy/cluster/programs.sh compiles it',
}

/**
 * Tests that need external programs. On a machine without these they are counted as skipped, and at full length they
 * fail: a release is not tested without them.
 */
export function describeWith(needs: Needs, name: string, tests: () => void): void {
  const { programs, root = false } = needs
  const absent = [...programs.filter((program) => !isInstalled(program)), ...(needs.packages ?? [])]
  const missing = [...absent, ...(needs.missing ?? [])]
  if (root && process.getuid?.() !== 0) missing.push('the rights of root')
  if (missing.length === 0) describe(name, tests)
  else if (absent.length > 0 && byLength({ short: false, long: true })) describe(name, () => failFor(absent))
  else describe.skip(`${name} (missing: ${missing.join(', ')})`, tests)
}

/** The same for tests that `npm test` leaves out, because they take long or need programs that few machines have. */
export function describeAtFullLength(needs: Needs, name: string, tests: () => void): void {
  const left = byLength({ short: ['npm run test:long'], long: [] })
  describeWith({ ...needs, missing: [...left, ...(needs.missing ?? [])] }, name, tests)
}

function failFor(absent: readonly string[]): void {
  for (const program of absent) {
    it(`finds ${program} installed`, () => {
      throw new Error(`${program} is missing: install the package ${PACKAGES[program] ?? program}`)
    })
  }
}
