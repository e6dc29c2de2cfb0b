import type { ServiceName } from '@restante/contracts/vocabulary'
import { Database, type DatabaseOptions } from '@restante/service/database'
import { run, type Service } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { EnginesConfiguration } from './configuration/common.ts'
import type { Configuration, FrameConfiguration, Source } from './configuration/configuration.ts'
import { Frame } from './frame.ts'
import { Kit } from './kit.ts'

interface Definition<
  N extends ServiceName,
  P extends ServiceName,
  Given extends object,
  C extends EnginesConfiguration,
  D extends Database,
> {
  readonly configuration: Configuration<N, P, Given, C>
  /** Adds the service's components to the kit. */
  readonly assemble: (kit: Kit<N, P, D>, config: FrameConfiguration<P> & C) => void | Promise<void>
}

interface StatelessDefinition<N extends ServiceName, P extends ServiceName, Given extends object, C extends object> {
  readonly configuration: Configuration<N, P, Given, C>
  /** Adds the service's components to the frame. */
  readonly assemble: (frame: Frame<N, P>, config: FrameConfiguration<P> & C) => void | Promise<void>
}

/** A service as its `main.ts` declares it. Processes run it, and tests start it. */
export interface ServiceDefinition<N extends ServiceName, C> {
  readonly name: N
  /** @throws ConfigurationError */
  readonly configure: (source: Source) => C
  /** Composes the service; nothing runs until it is started. */
  readonly create: (config: C, log: Logger) => Promise<Service>
}

/**
 * Declares a service.
 * @param definition `openDatabase` opens the database if the service needs more than SQL, for example an `OrmDatabase`.
 */
export function defineService<
  N extends ServiceName,
  P extends ServiceName,
  G extends object,
  C extends EnginesConfiguration,
  D extends Database,
>(
  definition: Definition<N, P, G, C, D> & { readonly openDatabase: (options: DatabaseOptions) => D },
): ServiceDefinition<N, FrameConfiguration<P> & C>
export function defineService<
  N extends ServiceName,
  P extends ServiceName,
  G extends object,
  C extends EnginesConfiguration,
>(definition: Definition<N, P, G, C, Database>): ServiceDefinition<N, FrameConfiguration<P> & C>
export function defineService<
  N extends ServiceName,
  P extends ServiceName,
  G extends object,
  C extends EnginesConfiguration,
>({
  configuration,
  assemble,
  openDatabase = (options) => new Database(options),
}: Definition<N, P, G, C, Database> & {
  readonly openDatabase?: (options: DatabaseOptions) => Database
}): ServiceDefinition<N, FrameConfiguration<P> & C> {
  const { name } = configuration
  return {
    name,
    configure: (source) => configuration.read(source),
    async create(config, log) {
      const db = openDatabase({ ...config.database, applicationName: name })
      const kit = new Kit<N, P>({ name, config, log, db })
      await assemble(kit, config)
      return kit.complete()
    },
  }
}

/** Declares a service that has neither a database nor topics. */
export function defineStatelessService<
  N extends ServiceName,
  P extends ServiceName,
  G extends object,
  C extends object,
>({ configuration, assemble }: StatelessDefinition<N, P, G, C>): ServiceDefinition<N, FrameConfiguration<P> & C> {
  const { name } = configuration
  return {
    name,
    configure: (source) => configuration.read(source),
    async create(config, log) {
      const frame = new Frame<N, P>({ name, config, log })
      await assemble(frame, config)
      return frame.complete()
    },
  }
}

/** Runs the service until SIGTERM or SIGINT. For `main.ts`, when it is the program. */
export function runService<N extends ServiceName, C extends FrameConfiguration<ServiceName>>(
  service: ServiceDefinition<N, C>,
): Promise<void> {
  return run(service)
}
