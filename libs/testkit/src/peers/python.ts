import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
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
 * Makes the environment unless another process has made it while this one waited. The lock ends with the process, and
 * the environment is complete when it has its name, so that an installation that is killed leaves nothing to clean up.
 */
const INSTALL = `
import fcntl, os, shutil, subprocess, sys
place, requirements = sys.argv[1:]
making = place + '.new'
with open(place + '.lock', 'w') as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not os.path.exists(place):
        shutil.rmtree(making, ignore_errors=True)
        subprocess.run([sys.executable, '-m', 'venv', making], check=True)
        options = ['--quiet', '--no-deps', '--no-compile', '--disable-pip-version-check', '-r', requirements]
        subprocess.run([making + '/bin/python3', '-m', 'pip', 'install', *options], check=True)
        os.rename(making, place)
`

/**
 * The Python interpreter of an environment with the packages of a `requirements.txt`, installed from the package index,
 * without dependency resolution, if it does not exist yet: once for concurrent test files, of which the others wait.
 * Modules are compiled when a program imports them, which is few of all.
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
  await run('python3', ['-c', INSTALL, place, requirements])
  return python
}
