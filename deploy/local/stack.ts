import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { STORING_SERVICES } from '@restante/contracts/vocabulary'
import { serviceCommand } from '@restante/service/process'
import { captureCommand } from './captured-mail.ts'
import { prepareDatabases } from './databases.ts'
import { leaveEngines, useEngines } from './engines/engines.ts'
import { serviceEnvironment } from './environment.ts'
import { ensureOrganization } from './organization.ts'
import { endProcess, exists, listens } from './processes.ts'
import { Advice, say, step } from './progress.ts'
import { openSecrets } from './secrets.ts'
import { type Program, Supervised } from './services/supervised.ts'
import { type Listener, listenerOf, root, type Settings } from './settings.ts'
import { prepareTopics } from './topics.ts'

/** Everything that `npm start` runs: engines, databases, topics, captured mail and every service. */
export class Stack {
  readonly #settings: Settings
  readonly #children: Supervised[] = []

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Resolves when every service is ready. Throws an `Advice` when one is not; then `stop` cleans up. */
  async start(signal: AbortSignal): Promise<void> {
    const services = await listServices()
    await this.#refuseTakenPorts(services)
    signal.throwIfAborted()
    const engines = await useEngines(this.#settings, process.env)
    signal.throwIfAborted()
    await step('Databases', () => prepareDatabases(engines.DATABASE_URL, STORING_SERVICES))
    signal.throwIfAborted()
    await step('Topics', () => prepareTopics(engines.KAFKA_BROKERS))
    signal.throwIfAborted()
    const secrets = await openSecrets(this.#settings)
    const environmentOf = (service: string) =>
      serviceEnvironment(service, { settings: this.#settings, engines, secretOf: secrets.of })
    const programs = [this.#capture(), ...services.map((name) => this.#service(name, environmentOf(name)))]
    await secrets.save()
    await ensureOrganization(this.#settings, environmentOf('gateway'))
    signal.throwIfAborted()
    say(`Starting ${programs.map(({ name }) => name).join(', ')} ...`)
    for (const program of programs) {
      const child = new Supervised(program)
      this.#children.push(child)
      await child.start()
    }
    await Promise.all(this.#children.map((child) => child.ready(signal)))
  }

  /** Stops the services, then the engines unless another process uses them. */
  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.stop()))
    await leaveEngines(this.#settings)
  }

  #capture(): Program {
    const { port, state } = this.#settings
    const web = port('captured-web')
    return {
      ...this.#place('captured-mail'),
      command: captureCommand({ smtp: port('captured-smtp'), web, folder: join(state, 'captured-mail') }),
      env: process.env,
      readyUrl: `http://127.0.0.1:${web}/healthz`,
    }
  }

  #service(name: string, environment: Record<string, string>): Program {
    const main = join(root, 'services', name, 'src/main.ts')
    return {
      ...this.#place(name),
      command: serviceCommand(main),
      env: { ...process.env, ...environment },
      readyUrl: `http://127.0.0.1:${this.#settings.port(listenerOf(name))}/readyz`,
    }
  }

  #place(name: string): Pick<Program, 'name' | 'log' | 'pidFile'> {
    return {
      name,
      log: join(this.#settings.logs, `${name}.log`),
      pidFile: join(programFolder(this.#settings), `${name}.pid`),
    }
  }

  async #refuseTakenPorts(services: readonly string[]): Promise<void> {
    await endLeftovers(this.#settings)
    const listeners: Listener[] = [...services.map(listenerOf), 'smtp', 'captured-smtp', 'captured-web']
    const checked = await Promise.all(
      listeners.map(async (listener) => ({ listener, taken: await listens(this.#settings.port(listener)) })),
    )
    const taken = checked.filter((check) => check.taken).map(({ listener }) => listener)
    if (taken.length === 0) return
    const lines = taken.map((listener) => `  ${this.#settings.port(listener)} (${listener})`)
    throw new Advice(
      `Something else listens on:\n${lines.join('\n')}\nEnd it, or choose other ports: see deploy/local/README.md.`,
    )
  }
}

/** Ends services that were left running because their stack was killed. */
export async function endLeftovers(settings: Settings): Promise<void> {
  const folder = programFolder(settings)
  const files = await readdir(folder).catch(() => [])
  await Promise.all(files.map((file) => endProcess(join(folder, file), { signal: 'SIGINT', timeout: 35_000 })))
}

/** Every folder of `services/` with a composition root. */
export async function listServices(): Promise<string[]> {
  const folder = join(root, 'services')
  const names = (await readdir(folder)).sort()
  const deployable = await Promise.all(names.map((name) => exists(join(folder, name, 'src/main.ts'))))
  return names.filter((_, index) => deployable[index])
}

function programFolder(settings: Settings): string {
  return join(settings.state, 'run', 'programs')
}
