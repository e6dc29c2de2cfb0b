import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { exists, run } from '@restante/local/processes.ts'
import { root } from '@restante/local/settings.ts'

const REQUIREMENTS = path.join(import.meta.dirname, 'requirements.txt')

/** The reason that Python programs cannot run on this machine, if they cannot. The toolkit needs Python 3.11. */
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
 * The Python interpreter of an environment with `requirements.txt`, installed from the package index if it does not
 * exist yet. It is created in another folder and then renamed, so that concurrent test files get a complete one.
 */
export async function pythonEnvironment(): Promise<string> {
  const wanted = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex')
    .slice(0, 12)
  const folder = path.join(root, '.restante/python')
  const place = path.join(folder, wanted)
  const python = path.join(place, 'bin/python3')
  if (await exists(python)) return python
  await mkdir(folder, { recursive: true })
  const making = path.join(folder, `${wanted}-${process.pid}`)
  await run('python3', ['-m', 'venv', making])
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--disable-pip-version-check', '-r', REQUIREMENTS]
  await run(path.join(making, 'bin/python3'), pip)
  // Another worker may have been faster; its environment is used then.
  await rename(making, place).catch(() => rm(making, { recursive: true, force: true }))
  return python
}
