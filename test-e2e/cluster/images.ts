import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { run } from '@restante/local/processes.ts'
import { root } from '@restante/local/settings.ts'
import { lastRelease } from '@restante/tools/releases/releases.ts'

/** Tag of the images of this working tree. */
const CURRENT = 'test'

export interface Images {
  /** Tag of the images of the last release. */
  readonly earlier: string
  /** Tag of those of this working tree. */
  readonly current: string
  /** Services that the last release does not have. */
  readonly later: readonly ServiceName[]
  /** All of them, and that of the engines. */
  readonly names: readonly string[]
}

/** Runs a script of deploy/cluster. */
type Script = (name: string, args: readonly string[], env?: NodeJS.ProcessEnv) => Promise<void>

/** The images of a run. */
export async function imagesOf(): Promise<Images> {
  const { version, commit } = await lastRelease()
  const released = new Set(
    (await run('git', ['ls-tree', '--name-only', commit, 'services/'], { cwd: root })).split('\n'),
  )
  const isLater = (name: ServiceName) => !released.has(`services/${name}`)
  const names = [version, CURRENT].flatMap((tag) => SERVICES.map((name) => `${name}:${tag}`))
  return {
    earlier: version,
    current: CURRENT,
    later: SERVICES.filter(isLater),
    names: ['engines:test', ...names].map((name) => `localhost/restante/${name}`),
  }
}

/**
 * Builds the images of the services, of this working tree and of the last release, and that of the engines. A service that
 * came later has the image of this working tree in both: the chart of today migrates its database with every install.
 */
export async function buildImages(script: Script): Promise<void> {
  const [{ version, commit }, { later }] = await Promise.all([lastRelease(), imagesOf()])
  await script('images.sh', ['engines'])
  await script('images.sh', ['services', ...SERVICES], { TAG: CURRENT })
  const sources = await mkdtemp(path.join(tmpdir(), 'restante-release-'))
  try {
    await run('sh', ['-c', 'git archive "$1" | tar x -C "$2"', 'sh', commit, sources], { cwd: root })
    const services = SERVICES.filter((name) => !later.includes(name))
    await script('images.sh', ['services', ...services], { TAG: version, SOURCE: sources, REVISION: commit })
    for (const name of later) {
      const image = `localhost/restante/${name}`
      await script('images.sh', ['podman', 'tag', `${image}:${CURRENT}`, `${image}:${version}`])
    }
  } finally {
    await rm(sources, { recursive: true, force: true })
  }
}
