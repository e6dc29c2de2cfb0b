import { readFile } from 'node:fs/promises'
import { lastLines, until } from '../processes.ts'
import { Advice } from '../progress.ts'

export const engineNames = ['postgres', 'redis', 'kafka'] as const
export type EngineName = (typeof engineNames)[number]

/** One native engine: how to check that it answers, start it and stop it. */
export interface Engine {
  readonly name: string
  readonly port: number
  readonly log: string
  answers(): Promise<boolean>
  /**
   * Process id of this stack's own server while it runs; an answering server may belong to another stack, or to the
   * machine.
   */
  process(): Promise<number | undefined>
  start(): Promise<void>
  stop(): Promise<void>
}

/** What an engine is started for. */
export interface EngineUse {
  /**
   * Whether its data may be lost with the machine, as that of test runs. Killed processes lose nothing all the same:
   * what they have written is with the operating system.
   */
  readonly expendable?: boolean
}

/**
 * Starts an engine unless it answers already. Throws an `Advice` when it does not start, with its last log lines, and
 * when another server has the port: its data would be taken for this stack's.
 */
export async function bring(engine: Engine, timeout = 60_000): Promise<'started' | 'was running'> {
  if (await engine.answers()) {
    if ((await engine.process()) !== undefined) return 'was running'
    throw new Advice(
      `Another ${engine.name} listens on port ${engine.port}. End it, or choose other ports (see deploy/local/README.md).`,
    )
  }
  await engine.start()
  if (await until(() => engine.answers(), timeout)) return 'started'
  const log = await readFile(engine.log, 'utf8').catch(() => '(no log)')
  throw new Advice(
    `${engine.name} does not answer on port ${engine.port} after ${timeout / 1000} s. ${engine.log} ends with:\n${lastLines(log, 15)}`,
  )
}
