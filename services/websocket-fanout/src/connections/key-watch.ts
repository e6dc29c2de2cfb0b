import type { Logger, Part, ServiceClient } from '@restante/service'
import type { Hub } from './hub.ts'

/** Together with the question itself this stays below the second within which a stream of a dead key must end. */
const EVERY_MS = 700
const BATCH = 1_000

/**
 * Ends the streams of keys that are deleted or have expired, by asking their owner about every open stream, over and
 * over. Events tell the same sooner; this holds also while they do not flow, and for a stream that was admitted on a
 * look-up of a moment ago and opened after its key's end had been told.
 */
export class KeyWatch implements Part {
  readonly name = 'key watch'
  readonly #hub: Hub
  readonly #gateway: ServiceClient<'websocket-fanout'>
  readonly #log: Logger
  #timer: NodeJS.Timeout | undefined
  #asking: Promise<void> = Promise.resolve()
  #stopped = false
  #failing = false

  constructor(options: { hub: Hub; gateway: ServiceClient<'websocket-fanout'>; log: Logger }) {
    this.#hub = options.hub
    this.#gateway = options.gateway
    this.#log = options.log
  }

  async start(): Promise<void> {
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#asking
  }

  /** Asks about one key at once: that of a stream which has just been opened. */
  check(credentialId: string): Promise<void> {
    return this.#ask([credentialId])
  }

  #schedule(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#asking = this.#askAboutAll().finally(() => this.#schedule())
    }, EVERY_MS)
  }

  async #askAboutAll(): Promise<void> {
    const ids = this.#hub.credentialIds()
    for (let from = 0; from < ids.length; from += BATCH) await this.#ask(ids.slice(from, from + BATCH))
  }

  /** An owner that does not answer ends nothing: a key is dead only when its owner says so. */
  async #ask(ids: string[]): Promise<void> {
    try {
      const { live } = await this.#gateway.call('gateway.verifyCredentials', { credential_ids: ids })
      const alive = new Set(live)
      this.#hub.endCredentials(new Set(ids.filter((id) => !alive.has(id))))
      this.#failing = false
    } catch (error) {
      if (!this.#failing) this.#log.warn({ err: error }, 'the owner of keys does not answer; streams stay open')
      this.#failing = true
    }
  }
}
