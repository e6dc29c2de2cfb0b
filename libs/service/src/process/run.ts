import { ConfigurationError } from '../configuration/environment.ts'
import type { Logger } from '../telemetry/logger.ts'
import { createLogger } from '../telemetry/logger.ts'
import { isTelemetryMissing, stopTelemetry } from '../telemetry/tracing.ts'
import { compactHeap } from './compact-heap.ts'
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

/** How long an open handle may keep the process alive after everything has stopped. */
const LEFT_OPEN_MS = 1_000

/**
 * Runs a service until SIGTERM or SIGINT, then drains it within its grace period. The process ends when nothing is open
 * any more. An invalid configuration ends it at once with one message that names every wrong variable.
 */
export async function run<C extends Runnable>(deployable: Deployable<C>): Promise<void> {
  const config = configured(deployable)
  if (config === undefined) return
  const log = createLogger({ service: deployable.name, level: config.log.level })
  if (isTelemetryMissing(process.env)) log.warn('no traces: the process was not started with service-node')
  const service = await deployable.create(config, log)
  const ended = firstSignal()
  // Counts from the signal, so that a start or a drain that hangs ends too.
  const forced = ended.then(() => exitAfter(config.shutdownGraceMs, log))
  try {
    await service.start()
  } catch (error) {
    log.fatal({ err: error }, 'service failed to start')
    process.exit(1)
  }
  compactHeap()
  log.info('ready')
  const signal = await ended
  log.info({ signal }, 'draining')
  service.drain()
  if (signal === 'SIGTERM') await new Promise((resolve) => setTimeout(resolve, READINESS_LEAD_MS))
  await service.stop()
  await stopTelemetry()
  clearTimeout(await forced)
  log.info('stopped')
  exitWhenLeftOpen(log)
}

/** The handler runs once: a second signal falls back to Node's default and ends the process at once. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}

function exitAfter(graceMs: number, log: Logger): NodeJS.Timeout {
  return setTimeout(() => {
    log.fatal('drain exceeded SHUTDOWN_GRACE, exiting')
    process.exit(1)
  }, graceMs).unref()
}

/** A handle that a component forgot is a defect, but must not keep a process that has stopped from ending. */
function exitWhenLeftOpen(log: Logger): void {
  setTimeout(() => {
    log.warn({ open: process.getActiveResourcesInfo() }, 'handles left open after the stop, exiting')
    process.exit()
  }, LEFT_OPEN_MS).unref()
}

/** Undefined when the configuration is invalid; the process then has an exit code and nothing that keeps it alive. */
function configured<C extends Runnable>(deployable: Deployable<C>): C | undefined {
  try {
    return deployable.configure(process.env)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    process.stderr.write(`${deployable.name}: ${error.message}\n`)
    process.exitCode = 1
    return undefined
  }
}
