import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { run } from '@restante/local/processes.ts'
import { root } from '@restante/local/settings.ts'

const OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']

/**
 * A folder with packages of npm in `node_modules`, installed from the registry if they are not there yet. None of their
 * scripts runs.
 * @param packages names with exact versions.
 */
export async function npmPackages(packages: readonly string[]): Promise<string> {
  const wanted = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 12)
  const folder = path.join(root, '.restante/npm', wanted)
  if (existsSync(folder)) return folder
  const making = `${folder}-${process.pid}`
  await mkdir(making, { recursive: true })
  await run('npm', ['install', ...OPTIONS, '--prefix', making, ...packages], { cwd: making, env: process.env })
  // Another worker may have been faster; its folder is used then.
  await rename(making, folder).catch(() => rm(making, { recursive: true, force: true }))
  return folder
}
