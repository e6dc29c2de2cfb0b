import { waitFor } from '@restante/testkit'
import { z } from 'zod'
import { Program } from '../programs/program.ts'

const seen = z.object({ events: z.array(z.object({ id: z.string(), frames: z.int(), last: z.number() })) })

/** Clients that connect to one address: all with the same key, and each with one of the frames. */
export interface ClientGroup {
  readonly url: string
  readonly clients: number
  readonly frames: readonly object[]
  /** What each sends ahead of its frame, as a line of the same message. */
  readonly greeting?: object
  /** The part of an answer by which a client knows that it is subscribed. */
  readonly confirmation?: string
}

/** Clients of streams, each group in a process of its own. */
export class StreamClients {
  readonly #programs: readonly Program[]
  readonly #frames = new Map<string, number>()
  readonly #last = new Map<string, number>()

  private constructor(programs: readonly Program[]) {
    this.#programs = programs
  }

  /** Resolves when all are connected and subscribed. */
  static async open(groups: readonly ClientGroup[]): Promise<StreamClients> {
    const programs = groups.map((group) => Program.start('stream-clients', group))
    await Promise.all(programs.map((program) => program.next(z.object({ opened: z.literal(true) }))))
    return new StreamClients(programs)
  }

  /**
   * Waits for frames of events. @returns when the last of them came, in Unix milliseconds.
   * @throws Error when it takes longer than two minutes.
   */
  async last(eventIds: readonly string[], framesOfEach: number): Promise<number> {
    await waitFor(
      async () => {
        for (const program of this.#programs) await this.#count(program)
        return eventIds.every((id) => (this.#frames.get(id) ?? 0) >= framesOfEach)
      },
      { what: `${framesOfEach} frames of ${eventIds.length} events`, timeout: 120_000, interval: 100 },
    )
    return Math.max(...eventIds.map((id) => this.#last.get(id) ?? 0))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop()))
  }

  async #count(program: Program): Promise<void> {
    program.resume()
    for (const { id, frames, last } of (await program.next(seen)).events) {
      this.#frames.set(id, (this.#frames.get(id) ?? 0) + frames)
      this.#last.set(id, Math.max(last, this.#last.get(id) ?? 0))
    }
  }
}
