import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const FOLDER = path.resolve(import.meta.dirname, '../../../../.restante/python')

/** The reason that Python programs cannot run on this machine, if they cannot. */
export function missingPython(): readonly string[] {
  const check = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))'
  try {
    execFileSync('python3', ['-c', check], { stdio: 'ignore' })
    return []
  } catch {
    return ['Python 3.11 with venv']
  }
}

/**
 * The Python interpreter of an environment with the packages of a `requirements.txt`, installed from the package index,
 * without dependency resolution, if it does not exist yet. It is created in another folder and then renamed, so that
 * concurrent test files get a complete one.
 */
export async function pythonEnvironment(requirements: string): Promise<string> {
  const wanted = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12)
  const place = path.join(FOLDER, wanted)
  const python = path.join(place, 'bin/python3')
  if (existsSync(python)) return python
  await mkdir(FOLDER, { recursive: true })
  const making = path.join(FOLDER, `${wanted}-${process.pid}`)
  await run('python3', ['-m', 'venv', making])
  // Modules are compiled when a program imports them, which is few of all.
  const options = ['--quiet', '--no-deps', '--no-compile', '--disable-pip-version-check']
  const pip = ['-m', 'pip', 'install', ...options, '-r', requirements]
  await run(path.join(making, 'bin/python3'), pip)
  // Another worker may have been faster; its environment is used then.
  await rename(making, place).catch(() => rm(making, { recursive: true, force: true }))
  return python
}
