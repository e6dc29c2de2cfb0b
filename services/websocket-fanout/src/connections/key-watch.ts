import { type Component, type Logger, Periodic, type ServiceClient } from '@restante/service'
import type { Hub } from './hub.ts'

/** A pause is at most five quarters of this: with the question it stays below the second that a dead key may have. */
const EVERY_MS = 600
const BATCH = 1_000

/**
 * Ends the streams of keys that are deleted or have expired, by asking their owner about every open stream, over and
 * over. Events tell the same sooner; this holds also while they do not flow, and for a stream that was admitted on a
 * look-up of a moment ago and opened after its key's end had been told.
 */
export class KeyWatch implements Component {
  readonly name = 'key watch'
  readonly #hub: Hub
  readonly #gateway: ServiceClient<'websocket-fanout'>
  readonly #log: Logger
  readonly #rounds: Periodic
  #failing = false

  constructor(options: { hub: Hub; gateway: ServiceClient<'websocket-fanout'>; log: Logger }) {
    this.#hub = options.hub
    this.#gateway = options.gateway
    this.#log = options.log
    const work = () => this.#askAboutAll()
    this.#rounds = new Periodic({ name: this.name, everyMs: EVERY_MS, log: options.log, work })
  }

  start(): Promise<void> {
    return this.#rounds.start()
  }

  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Asks about one key at once: that of a stream which has just been opened. */
  check(credentialId: string): Promise<void> {
    return this.#ask([credentialId])
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
