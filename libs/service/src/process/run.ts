import { ConfigurationError } from '../configuration/environment.ts'
import type { Logger } from '../telemetry/logger.ts'
import { createLogger } from '../telemetry/logger.ts'
import { startTelemetry } from '../telemetry/tracing.ts'
import type { Service } from './service.ts'

/** What `run` needs of every configuration. */
interface Runnable {
  readonly log: { readonly level: string }
  readonly shutdownGraceMs: number
}

/** What can run as a process. */
export interface Deployable<C extends Runnable> {
  readonly name: string
  /** Reads the configuration from the environment. @throws ConfigurationError */
  readonly configure: (environment: NodeJS.ProcessEnv) => C
  readonly create: (config: C, log: Logger) => Service | Promise<Service>
}

/** How long requests are still served after `/readyz` has turned false, so that load balancers notice first. */
const READINESS_LEAD_MS = 2_000

/**
 * Runs a service until SIGTERM or SIGINT, then drains it within its grace period. An invalid configuration ends the
 * process at once with one message that names every wrong variable.
 */
export async function run<C extends Runnable>(deployable: Deployable<C>): Promise<void> {
  const stopTelemetry = await startTelemetry(deployable.name, process.env)
  const config = configureOrExit(deployable)
  const log = createLogger({ service: deployable.name, level: config.log.level })
  const service = await deployable.create(config, log)
  const ended = firstSignal()
  // Counts from the signal, so that a start or a drain that hangs ends too.
  void ended.then(() => exitAfter(config.shutdownGraceMs, log))
  try {
    await service.start()
  } catch (error) {
    log.fatal({ err: error }, 'service failed to start')
    process.exit(1)
  }
  log.info('ready')
  const signal = await ended
  log.info({ signal }, 'draining')
  service.drain()
  if (signal === 'SIGTERM') await new Promise((resolve) => setTimeout(resolve, READINESS_LEAD_MS))
  await service.stop()
  await stopTelemetry()
  log.info('stopped')
  process.exit(0)
}

/** The handler runs once: a second signal falls back to Node's default and ends the process at once. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}

function exitAfter(graceMs: number, log: Logger): void {
  const forced = setTimeout(() => {
    log.fatal('drain exceeded SHUTDOWN_GRACE, exiting')
    process.exit(1)
  }, graceMs)
  forced.unref()
}

function configureOrExit<C extends Runnable>(deployable: Deployable<C>): C {
  try {
    return deployable.configure(process.env)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    process.stderr.write(`${deployable.name}: ${error.message}\n`)
    process.exit(1)
  }
}
