import path from 'node:path'
import { STORING_SERVICES } from '@restante/contracts/vocabulary'
import { createDatabases, databaseUrl } from '@restante/local/databases.ts'
import { bring, type Engine, type EngineName, engineNames } from '@restante/local/engines/engine.ts'
import { engineUrls, native } from '@restante/local/engines/engines.ts'
import { ensurePrograms } from '@restante/local/engines/packages.ts'
import { listens } from '@restante/local/processes.ts'
import { readSettings, root, type Settings } from '@restante/local/settings.ts'
import { migrate } from '@restante/service/database'
import { freePort, PATIENCE_MS, waitFor } from '@restante/testkit'
import { byStoringService } from '../../stack/by-service.ts'
import type { Resources } from '../../stack/resources.ts'
import { present, type Sources } from '../../stack/sources.ts'
import { endEngines, endEnginesAtExit } from './end-engines.ts'

/** PostgreSQL, Redis and Kafka of one test file, which may kill them. */
export class OwnEngines {
  readonly resources: Resources
  readonly #settings: Settings
  readonly #engines: Readonly<Record<EngineName, Engine>>
  readonly #callOffEnd: () => void

  private constructor(resources: Resources, settings: Settings, engines: Readonly<Record<EngineName, Engine>>) {
    this.resources = resources
    this.#settings = settings
    this.#engines = engines
    this.#callOffEnd = endEnginesAtExit(settings)
  }

  /** Resolves when they answer, with the databases and topics of every service as a release makes them. */
  static async start(folder: string, sources: Sources): Promise<OwnEngines> {
    await ensurePrograms(engineNames)
    const settings = await settingsOf(path.join(folder, 'engines'))
    const [postgres, redis, kafka] = await Promise.all(engineNames.map((name) => native[name](settings)))
    if (!postgres || !redis || !kafka) throw new Error('an engine is missing')
    const urls = engineUrls(settings, {})
    const resources: Resources = {
      urls,
      databases: byStoringService((name) => databaseUrl(urls.DATABASE_URL, name)),
      topicPrefix: '',
      redisPrefix: 'restante',
      clear: async () => undefined,
    }
    const engines = new OwnEngines(resources, settings, { postgres, redis, kafka })
    try {
      await Promise.all(engineNames.map((name) => bring(engines.#engines[name])))
      await createDatabases(urls.DATABASE_URL, STORING_SERVICES)
      await prepare(sources, resources)
    } catch (error) {
      await engines.stop()
      throw error
    }
    return engines
  }

  /** Kills an engine, which can write nothing more, as in a power failure. Resolves when its port is closed. */
  async kill(name: EngineName): Promise<void> {
    const engine = this.#engines[name]
    const pid = await engine.process()
    if (pid === undefined) throw new Error(`${engine.name} does not run`)
    process.kill(pid, 'SIGKILL')
    await waitFor(async () => !(await listens(engine.port)), { what: `${engine.name} to be gone` })
  }

  /** Starts a killed engine on its existing data. */
  async restart(name: EngineName): Promise<void> {
    // Remaining processes of a killed PostgreSQL hold its data directory for a short time.
    await waitFor(() => bring(this.#engines[name]), {
      what: `${this.#engines[name].name} to come back`,
      timeout: 2 * PATIENCE_MS,
      interval: 200,
    })
  }

  /** Ends them and deletes their data. */
  async stop(): Promise<void> {
    await endEngines(this.#settings)
    this.#callOffEnd()
  }
}

/** Does what precedes the start of services. The migrations of this release run here: a program for each takes seconds. */
async function prepare(sources: Sources, resources: Resources): Promise<void> {
  if (sources !== present) return sources.prepare(resources)
  const migrations = STORING_SERVICES.map((name) =>
    migrate({ url: resources.databases[name], folder: path.join(root, 'services', name) }),
  )
  await Promise.all([sources.ensureTopics(resources), ...migrations])
}

async function settingsOf(state: string): Promise<Settings> {
  const names = ['POSTGRES', 'REDIS', 'KAFKA', 'KAFKA_CONTROLLER']
  const ports = await Promise.all(names.map(async (name) => [`RESTANTE_${name}_PORT`, String(await freePort())]))
  return readSettings({ RESTANTE_STATE: state, ...Object.fromEntries(ports) })
}
