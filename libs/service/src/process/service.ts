import type { Logger } from '../telemetry/logger.ts'
import type { Component } from './component.ts'

/** A part that cannot say how it is does not keep the others from saying it: probes do not wait longer than this. */
const ANSWER_MS = 2_000

/** A process of ours: parts that start in order, say together whether they are ready, and stop in reverse order. */
export class Service {
  readonly name: string
  readonly log: Logger
  readonly #parts: Component[] = []
  #started: Component[] = []
  #draining = false

  constructor(options: { name: string; log: Logger }) {
    this.name = options.name
    this.log = options.log
  }

  /** Adds a part and gives it back, so that composition reads as a list of declarations. */
  use<P extends Component>(part: P): P {
    this.#parts.push(part)
    return part
  }

  /** Starts every part; when one fails, those that run are stopped again and the failure is thrown. */
  async start(): Promise<void> {
    for (const part of this.#parts) {
      try {
        await part.start?.()
        this.#started.unshift(part)
      } catch (error) {
        await this.stop()
        throw new Error(`${part.name} did not start: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        })
      }
    }
  }

  /** Announces the end: `/readyz` answers 503 from here on, while requests are still served. */
  drain(): void {
    this.#draining = true
  }

  /** Stops every started part, last started first; one that fails does not keep the others from stopping. */
  async stop(): Promise<void> {
    this.#draining = true
    const parts = this.#started
    this.#started = []
    for (const part of parts) {
      await part
        .stop?.()
        .catch((error: unknown) => this.log.error({ err: error, part: part.name }, 'part did not stop cleanly'))
    }
  }

  /** @returns the name of each part that keeps requests away, with the reason; empty when the service is ready. */
  async problems(): Promise<Record<string, string>> {
    if (this.#draining) return { service: 'shutting down' }
    return this.#rejected((part) => part.ready?.())
  }

  /** @returns the name of each part whose work behind the scenes stands still, with the reason. */
  degradations(): Promise<Record<string, string>> {
    return this.#rejected((part) => part.working?.())
  }

  async #rejected(check: (part: Component) => Promise<void> | undefined): Promise<Record<string, string>> {
    const checks = this.#parts.map(async (part): Promise<[string, string] | undefined> => {
      try {
        await answered(check(part))
        return undefined
      } catch (error) {
        return [part.name, error instanceof Error ? error.message : String(error)]
      }
    })
    return Object.fromEntries((await Promise.all(checks)).filter((entry) => entry !== undefined))
  }
}

async function answered(check: Promise<void> | undefined): Promise<void> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer for ${ANSWER_MS} ms`)), ANSWER_MS)
  try {
    await Promise.race([check, silence])
  } finally {
    clearTimeout(timer)
  }
}
