import type { System, SystemOptions } from '../../stack/system.ts'
import type { Figure } from './figures.ts'

/** One measurement of the system; each has a file of its own. */
export interface Bench {
  readonly name: string
  /** One line: what is measured, compared with what. */
  readonly about: string
  run(context: BenchContext): Promise<readonly Figure[]>
}

/** The environment of a bench. Everything that the bench starts through it is stopped with the bench. */
export interface BenchContext {
  readonly quick: boolean
  /** The given size, or a tenth of it in a quick run. */
  size(full: number): number
  /** Prints a line of progress. */
  say(text: string): void
  /** The folder of this bench, on the disk that the services use. */
  readonly folder: string
  /** Starts services as processes, by default all, with their own databases and topics and without any load. */
  startSystem(options?: Pick<SystemOptions, 'environment' | 'services'>): Promise<System>
  /** Node arguments for a process that is profiled together with the given service. */
  nodeArguments(service: string): readonly string[]
  /** Stops something at the end of the bench, in reverse order of the calls. */
  cleanUp<T extends { stop(): Promise<unknown> }>(thing: T): T
}
