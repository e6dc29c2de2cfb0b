import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { run } from '../processes.ts'
import type { Settings } from '../settings.ts'

const file = join(import.meta.dirname, '../compose.yaml')

/** The engines in containers. */
export interface Compose {
  start(engines: readonly string[]): Promise<void>
  stop(): Promise<void>
  /** Stops them and deletes their data. */
  remove(): Promise<void>
}

/** Docker Compose, when a Docker engine answers. */
export async function findCompose(settings: Settings): Promise<Compose | undefined> {
  const answers = await run('docker', ['info', '--format', '{{.ServerVersion}}'], { timeout: 5_000 })
    .then(() => run('docker', ['compose', 'version'], { timeout: 5_000 }))
    .catch(() => undefined)
  if (answers === undefined) return undefined
  const compose = (...args: string[]) =>
    run('docker', ['compose', '-f', file, '-p', projectName(settings), ...args], { env: environment(settings) })
  return {
    start: async (engines) => void (await compose('up', '--detach', '--wait', ...engines)),
    stop: async () => void (await compose('stop')),
    remove: async () => void (await compose('down', '--volumes')),
  }
}

/** One project per state directory, so that two clones on one machine do not share their data. */
function projectName(settings: Settings): string {
  return `restante-${createHash('sha256').update(settings.state).digest('hex').slice(0, 8)}`
}

function environment(settings: Settings): NodeJS.ProcessEnv {
  return {
    ...process.env,
    POSTGRES_PORT: String(settings.port('postgres')),
    REDIS_PORT: String(settings.port('redis')),
    KAFKA_PORT: String(settings.port('kafka')),
  }
}
