import type { ServiceName } from '@restante/contracts/vocabulary'
import { ConfigurationError, problemsOf } from '@restante/service/configuration'
import type { z } from 'zod'
import {
  type EnginesConfiguration,
  type EnginesEnvironment,
  enginesBlock,
  type FrameConfigured,
  type FrameEnvironment,
  frameBlock,
} from './common.ts'
import { type Peers, peersOf, peerVariables } from './peers.ts'

/** The variables of a process: `process.env`, or those of a test. */
export type Source = Readonly<Record<string, string | undefined>>

/** A set of variables and the nested value that they yield. */
export interface Block<Own extends object, Value extends object, Before extends object = object, Config = unknown> {
  /** The variables, each with its default and its meaning. */
  readonly variables: z.ZodType<Own> & z.ZodObject
  /** Problems between variables that are each valid. Each sentence begins with the name of a variable. */
  readonly check?: (given: Before & Own) => readonly string[]
  /**
   * The variables as the code uses them. Pure.
   * @param config the value of the previous blocks.
   */
  readonly configure: (given: Before & Own, config: Config) => Value
}

/** What the configuration of every service contains. */
export type FrameConfiguration<P extends ServiceName> = FrameConfigured & {
  readonly service: ServiceName
  readonly peers: Peers<P>
}

/** What that of a service contains which stores and publishes. */
export type ServiceConfiguration<P extends ServiceName> = FrameConfiguration<P> & EnginesConfiguration

/** The part that is known before a service adds its blocks. */
type BaseEnvironment<P extends ServiceName> = FrameEnvironment & { readonly peers: Peers<P> }

/** The three steps from a source to a configuration. All problems are collected before the next step begins. */
interface Steps<Given extends object, Config extends object> {
  readonly parse: (source: Source) => { readonly problems: readonly string[]; readonly given?: Given }
  readonly check: (given: Given) => readonly string[]
  readonly configure: (given: Given) => Config
}

/**
 * The configuration of one service, composed of blocks: a flat environment in, a nested typed value out. It is the only
 * reader of the environment.
 */
export class Configuration<N extends ServiceName, P extends ServiceName, Given extends object, Config extends object> {
  readonly name: N
  /** Every variable, for the documents. */
  readonly variables: z.ZodObject
  readonly #steps: Steps<Given, FrameConfiguration<P> & Config>

  /** Use `configurationOf`. */
  constructor(name: N, variables: z.ZodObject, steps: Steps<Given, FrameConfiguration<P> & Config>) {
    this.name = name
    this.variables = variables
    this.#steps = steps
  }

  /** Adds a block. Its variables replace those of the same name, and its value is merged into the configuration. */
  with<Own extends object, Value extends object>(
    block: Block<Own, Value, Given, FrameConfiguration<P> & Config>,
  ): Configuration<N, P, Given & Own, Config & Value> {
    const before = this.#steps
    return new Configuration<N, P, Given & Own, Config & Value>(
      this.name,
      this.variables.extend(block.variables.shape),
      {
        parse: (source) => {
          const { problems, given } = before.parse(source)
          const own = parse(block.variables, source)
          if (given === undefined || own.given === undefined) return { problems: [...problems, ...own.problems] }
          return { problems: [], given: { ...given, ...own.given } }
        },
        check: (given) => [...before.check(given), ...(block.check?.(given) ?? [])],
        configure: (given) => {
          const config = before.configure(given)
          return { ...config, ...block.configure(given, config) }
        },
      },
    )
  }

  /**
   * Reads the configuration.
   * @throws ConfigurationError naming every variable that is missing or wrong, never its value: it may be a secret.
   */
  read(source: Source): FrameConfiguration<P> & Config {
    const { problems, given } = this.#steps.parse(source)
    if (given === undefined) throw new ConfigurationError(problems)
    const wrong = this.#steps.check(given)
    if (wrong.length > 0) throw new ConfigurationError(wrong)
    return this.#steps.configure(given)
  }
}

/** The configuration of any service, by the type of its value. */
export type ConfigOf<C> = C extends { read(source: Source): infer Config } ? Config : never

/**
 * Creates the configuration of a service that stores and publishes, with the common variables: listener, logging,
 * database, Kafka, and the addresses and keys of the services that it calls.
 */
export function configurationOf<N extends ServiceName, P extends ServiceName>(
  name: N,
  options: { readonly peers: readonly P[] },
): Configuration<N, P, BaseEnvironment<P> & EnginesEnvironment, EnginesConfiguration> {
  return frameConfigurationOf(name, options).with(enginesBlock)
}

/** The same for a service that has neither a database nor topics. */
export function frameConfigurationOf<N extends ServiceName, P extends ServiceName>(
  name: N,
  { peers: names }: { readonly peers: readonly P[] },
): Configuration<N, P, BaseEnvironment<P>, object> {
  const frame = frameBlock(name)
  const addresses = peerVariables(names)
  return new Configuration<N, P, BaseEnvironment<P>, object>(name, frame.variables.extend(addresses.shape), {
    parse: (source) => {
      const own = parse(frame.variables, source)
      const others = parse(addresses, source)
      if (own.given === undefined || others.given === undefined) {
        return { problems: [...own.problems, ...others.problems] }
      }
      return { problems: [], given: { ...own.given, peers: peersOf(names, others.given) } }
    },
    check: () => [],
    configure: (given) => ({ service: name, ...frame.configure(given), peers: given.peers }),
  })
}

/** For `check`: two variables that must be set together or not at all. */
export function together<Given extends object>(given: Given, one: keyof Given & string, other: keyof Given & string) {
  if ((given[one] === undefined) === (given[other] === undefined)) return []
  return given[one] === undefined
    ? [`${one} is missing: it must be given together with ${other}`]
    : [`${other} is missing: it must be given together with ${one}`]
}

/** Reads the variables of one block; an empty variable counts as absent. */
function parse<Own extends object>(
  variables: z.ZodType<Own> & z.ZodObject,
  source: Source,
): { readonly problems: readonly string[]; readonly given?: Own } {
  const present = Object.fromEntries(
    Object.keys(variables.shape).flatMap((name) => {
      const value = source[name]
      return value === undefined || value === '' ? [] : [[name, value]]
    }),
  )
  const result = variables.safeParse(present)
  if (result.success) return { problems: [], given: result.data }
  return { problems: problemsOf(result.error, present) }
}
