import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { exists, run, succeeds } from '@restante/local/processes.ts'
import { root } from '@restante/local/settings.ts'
import type { Release } from '@restante/tools/releases/releases.ts'
import { Sources } from '../stack/sources.ts'

/** Time to extract a release, and to install its packages from pnpm's store. */
export const INSTALL_TIMEOUT = 240_000

/**
 * The sources of an earlier release, with its packages and Prisma clients, in `.restante/releases/`. Prepared once.
 * @param copy names a copy of its own, for a test that changes files of it.
 * @throws Error when the history of this repository does not hold the commit.
 */
export async function releasedSources({ version, commit }: Release, copy?: string): Promise<Sources> {
  const name = copy === undefined ? version : `${version}-${copy}`
  const folder = path.join(root, '.restante/releases', name)
  const stamp = path.join(folder, '.prepared')
  if ((await readFile(stamp, 'utf8').catch(() => '')) !== commit) {
    await extract(version, commit, folder)
    await install(folder)
    await writeFile(stamp, commit)
  }
  return new Sources(name, folder)
}

async function extract(version: string, commit: string, folder: string): Promise<void> {
  if (!(await succeeds(run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }))))
    throw new Error(
      `The history here does not hold ${version} (${commit}): get it with "git fetch --unshallow", or fetch the commit.`,
    )
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await run('sh', ['-c', 'git archive "$1" | tar x -C "$2"', 'sh', commit, folder], { cwd: root })
}

async function install(folder: string): Promise<void> {
  const pnpm = path.join(root, 'node_modules/pnpm/bin/pnpm.cjs')
  const at = (file: string) => path.join(folder, file)
  const env = { ...process.env, CI: 'true', NODE_ENV: undefined, npm_config_loglevel: 'info' }
  const options = ['install', '--frozen-lockfile', '--prefer-offline']
  await run(process.execPath, [pnpm, ...options], { cwd: folder, env })
  if (!(await exists(at('node_modules/node/bin/node')))) throw new Error(`${folder} has no Node of its own`)
  await run(at('node_modules/.bin/turbo'), ['run', 'generate', '--ui=stream', '--output-logs=errors-only'], {
    cwd: folder,
    env: {
      ...env,
      PATH: [at('node_modules/node/bin'), at('node_modules/.bin'), process.env['PATH']].join(path.delimiter),
      PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
      CHECKPOINT_DISABLE: '1',
      TURBO_TELEMETRY_DISABLED: '1',
    },
  })
}
