import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists, recallProcess, rememberProcess } from '../processes.ts'
import { say } from '../progress.ts'
import type { Settings } from '../settings.ts'
import { findCompose } from './compose.ts'
import { bring, type Engine, type EngineName, type EngineUse, engineNames } from './engine.ts'
import { kafka } from './kafka.ts'
import { ensurePrograms } from './packages.ts'
import { clusterExists, postgres, removeCluster } from './postgres.ts'
import { redis } from './redis.ts'

/** URLs of the engines. The database user may create databases. */
export interface EngineUrls {
  readonly DATABASE_URL: string
  readonly REDIS_URL: string
  readonly KAFKA_BROKERS: string
}

/** How each engine runs without containers. */
export const native: Record<EngineName, (settings: Settings, use?: EngineUse) => Engine | Promise<Engine>> = {
  postgres,
  redis,
  kafka,
}

const variables: Record<EngineName, keyof EngineUrls> = {
  postgres: 'DATABASE_URL',
  redis: 'REDIS_URL',
  kafka: 'KAFKA_BROKERS',
}

/** URLs of the engines that the environment names, and for the others those of this stack. */
export function engineUrls(settings: Settings, env: NodeJS.ProcessEnv): EngineUrls {
  return {
    DATABASE_URL: env['DATABASE_URL'] || `postgres://restante@127.0.0.1:${settings.port('postgres')}/postgres`,
    REDIS_URL: env['REDIS_URL'] || `redis://127.0.0.1:${settings.port('redis')}`,
    KAFKA_BROKERS: env['KAFKA_BROKERS'] || `127.0.0.1:${settings.port('kafka')}`,
  }
}

/**
 * Finds or starts the engines: those named in the environment, otherwise Docker Compose where a Docker engine answers,
 * otherwise native processes. Engines of the stack keep running until the last process that uses them calls
 * `leaveEngines`.
 * @param use what native processes are started for; those that run already stay as they are.
 */
export async function useEngines(settings: Settings, env: NodeJS.ProcessEnv, use: EngineUse = {}): Promise<EngineUrls> {
  const urls = engineUrls(settings, env)
  const wanted = engineNames.filter((name) => !env[variables[name]])
  if (wanted.length < 3) say('Engines: those named in the environment are used as they are')
  if (wanted.length === 0) return urls
  await rememberProcess(join(usersFolder(settings), String(process.pid)), process.pid)
  const compose = await findCompose(settings)
  if (compose) {
    say('Engines: Docker Compose (fetches images the first time) ...')
    await compose.start(wanted)
    say('Engines: ready')
    return urls
  }
  await ensurePrograms(wanted)
  // All of them end before a failure is reported, so that nothing is still starting during the clean-up.
  const outcomes = await Promise.allSettled(wanted.map((name) => startNative(name, settings, use)))
  const failure = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failure) throw failure.reason
  return urls
}

async function startNative(name: EngineName, settings: Settings, use: EngineUse): Promise<void> {
  const engine = await native[name](settings, use)
  const outcome = await bring(engine)
  say(`Engines: ${engine.name} ${outcome} on port ${engine.port}`)
}

/**
 * Ends this process's use of the engines, and stops them when no other process uses them and they are not to be kept.
 */
export async function leaveEngines(settings: Settings): Promise<void> {
  await rm(join(usersFolder(settings), String(process.pid)), { force: true })
  if (await exists(keepFile(settings))) return
  if ((await otherUsers(settings)).length > 0) return
  await stopEngines(settings)
}

/** Keeps the engines running when their last user leaves, for work on single tests; `stopEngines` ends that. */
export async function keepEngines(settings: Settings): Promise<void> {
  await mkdir(join(settings.state, 'run'), { recursive: true })
  await writeFile(keepFile(settings), '')
}

/** Stops every engine of this state directory, even if others use it. */
export async function stopEngines(settings: Settings): Promise<void> {
  await rm(keepFile(settings), { force: true })
  const compose = await findCompose(settings)
  await compose?.stop()
  const engines: (Engine | Promise<Engine>)[] = [redis(settings), kafka(settings)]
  if (await clusterExists(settings)) engines.push(postgres(settings))
  await Promise.all(engines.map(async (engine) => (await engine).stop()))
}

/** Deletes the engines' data. They must have been stopped. */
export async function removeEngineData(settings: Settings): Promise<void> {
  const compose = await findCompose(settings)
  await compose?.remove()
  await removeCluster(settings)
  await rm(join(settings.state, 'redis'), { recursive: true, force: true })
  await rm(join(settings.state, 'kafka', 'data'), { recursive: true, force: true })
}

/** Processes other than this one that use the engines. */
export async function otherUsers(settings: Settings): Promise<number[]> {
  const folder = usersFolder(settings)
  const files = (await readdir(folder).catch(() => [])).filter((name) => name !== String(process.pid))
  const alive = await Promise.all(files.map((name) => recallProcess(join(folder, name))))
  return alive.filter((pid) => pid !== undefined)
}

function usersFolder(settings: Settings): string {
  return join(settings.state, 'run', 'engine-users')
}

function keepFile(settings: Settings): string {
  return join(settings.state, 'run', 'engines.kept')
}
