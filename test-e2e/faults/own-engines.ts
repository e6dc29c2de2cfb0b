import { randomInt } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { SERVICES } from '@restante/contracts'
import { databaseUrl, prepareDatabases } from '@restante/local/databases.ts'
import { bring, type Engine, type EngineName, engineNames } from '@restante/local/engines/engine.ts'
import { engineUrls, native, removeEngineData } from '@restante/local/engines/engines.ts'
import { ensurePrograms } from '@restante/local/engines/packages.ts'
import { listens } from '@restante/local/processes.ts'
import { readSettings, type Settings } from '@restante/local/settings.ts'
import { prepareTopics } from '@restante/local/topics.ts'
import { waitFor } from '@restante/testkit'
import { byService } from '../stack/by-service.ts'
import type { Ground } from '../stack/ground.ts'

/** PostgreSQL, Redis and Kafka that belong to one test file, which may do to them what it likes. */
export class OwnEngines {
  readonly ground: Ground
  readonly #settings: Settings
  readonly #engines: Readonly<Record<EngineName, Engine>>

  private constructor(ground: Ground, settings: Settings, engines: Readonly<Record<EngineName, Engine>>) {
    this.ground = ground
    this.#settings = settings
    this.#engines = engines
  }

  /** Resolves when they answer, with the databases and topics of every service. */
  static async start(folder: string): Promise<OwnEngines> {
    await ensurePrograms(engineNames)
    const settings = await settingsOf(path.join(folder, 'engines'))
    const [postgres, redis, kafka] = await Promise.all(engineNames.map((name) => native[name](settings)))
    if (!postgres || !redis || !kafka) throw new Error('an engine is missing')
    const urls = engineUrls(settings, {})
    const ground: Ground = {
      urls,
      databases: byService((name) => databaseUrl(urls.DATABASE_URL, name)),
      topicPrefix: '',
      redisPrefix: 'restante',
      clear: async () => undefined,
    }
    const engines = new OwnEngines(ground, settings, { postgres, redis, kafka })
    try {
      await Promise.all(engineNames.map((name) => bring(engines.#engines[name])))
      await prepareDatabases(urls.DATABASE_URL, SERVICES)
      await prepareTopics(urls.KAFKA_BROKERS)
    } catch (error) {
      await engines.stop()
      throw error
    }
    return engines
  }

  /** Ends an engine as a power cut would: it can write nothing more. Resolves when its port is closed. */
  async kill(name: EngineName): Promise<void> {
    const engine = this.#engines[name]
    const pid = await engine.process()
    if (pid === undefined) throw new Error(`${engine.name} does not run`)
    process.kill(pid, 'SIGKILL')
    await waitFor(async () => !(await listens(engine.port)), { what: `${engine.name} to be gone` })
  }

  /** Starts what was killed, on the data that it left. */
  async restart(name: EngineName): Promise<void> {
    // What is left of a killed PostgreSQL keeps its data for a moment longer.
    await waitFor(() => bring(this.#engines[name]), {
      what: `${this.#engines[name].name} to come back`,
      timeout: 60_000,
      interval: 200,
    })
  }

  /** Ends them and deletes their data. */
  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#engines).map((engine) => engine.stop()))
    await removeEngineData(this.#settings)
    await rm(this.#settings.state, { recursive: true, force: true })
  }
}

/**
 * Ports that are free now: below those that the system gives to outgoing connections, and ending in 6 to 9, where no
 * service of a test listens.
 */
async function settingsOf(state: string): Promise<Settings> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const first = randomInt(2_000, 3_200) * 10 + 6
    const names = ['POSTGRES', 'REDIS', 'KAFKA', 'KAFKA_CONTROLLER']
    const ports = names.map((name, index) => [`RESTANTE_${name}_PORT`, String(first + index)])
    if ((await Promise.all(names.map((_, index) => listens(first + index)))).includes(true)) continue
    return readSettings({ RESTANTE_STATE: state, ...Object.fromEntries(ports) })
  }
  throw new Error('found no free ports for engines')
}
