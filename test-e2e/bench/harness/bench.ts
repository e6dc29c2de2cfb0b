import type { System, SystemOptions } from '../../stack/system.ts'
import type { Figure } from './figures.ts'

/** Something that can be measured, one file each. */
export interface Bench {
  readonly name: string
  /** One line: what is measured, beside what. */
  readonly about: string
  run(context: BenchContext): Promise<readonly Figure[]>
}

/** What a bench gets. All that it starts through this ends with it. */
export interface BenchContext {
  readonly quick: boolean
  /** The given size, or a tenth of it when the run is to be quick. */
  size(full: number): number
  /** A line of progress. */
  say(text: string): void
  /** A folder of this bench's own, on the disk that the services use. */
  readonly folder: string
  /** Every service as a process, with databases and topics that nobody else has, on which nothing happens yet. */
  startSystem(options?: Pick<SystemOptions, 'environment'>): Promise<System>
  /** Arguments of Node for a process that is to be profiled if that service is. */
  nodeArguments(service: string): readonly string[]
  /** Stops something when the bench is over, what was started last first. */
  cleanUp<T extends { stop(): Promise<unknown> }>(thing: T): T
}
