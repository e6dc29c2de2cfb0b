import type { ServiceClient } from '@restante/service/http'
import { type Component, Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'

/**
 * A pause is at most 125 % of this: together with the request it stays below the second for which a dead key may still be
 * used.
 */
const EVERY_MS = 600
const BATCH = 1_000

/** What lives on a key: streams, polls. */
export interface KeyHolder {
  /** Ids of the credentials in use, each once. */
  credentialIds(): readonly string[]
  /** Ends what uses keys that no longer authenticate. */
  endCredentials(ended: ReadonlySet<string>): void
}

/**
 * Ends the streams and polls of keys that are deleted or expired, by continuously asking the gateway about the keys of all of
 * them. Events report the same sooner; this also works while no events arrive, and for a stream that was admitted by
 * a look-up a moment before its key's end and opened after the event.
 */
export class KeyWatch implements Component {
  readonly name = 'key watch'
  readonly #holders: readonly KeyHolder[]
  readonly #gateway: ServiceClient<'websocket-fanout'>
  readonly #log: Logger
  readonly #rounds: Periodic
  #failing = false

  constructor(options: { holders: readonly KeyHolder[]; gateway: ServiceClient<'websocket-fanout'>; log: Logger }) {
    this.#holders = options.holders
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

  /** Checks one key at once: that of a stream which has just been opened. */
  check(credentialId: string): Promise<void> {
    return this.#ask([credentialId])
  }

  async #askAboutAll(): Promise<void> {
    const ids = [...new Set(this.#holders.flatMap((holder) => holder.credentialIds()))]
    for (let from = 0; from < ids.length; from += BATCH) await this.#ask(ids.slice(from, from + BATCH))
  }

  /** A gateway that does not answer ends nothing: a key is dead only when the gateway says so. */
  async #ask(ids: string[]): Promise<void> {
    try {
      const { live } = await this.#gateway.call('gateway.verifyCredentials', { credential_ids: ids })
      const alive = new Set(live)
      const ended = new Set(ids.filter((id) => !alive.has(id)))
      for (const holder of this.#holders) holder.endCredentials(ended)
      this.#failing = false
    } catch (error) {
      if (!this.#failing) this.#log.warn({ err: error }, 'key check failed: gateway unreachable, streams stay open')
      this.#failing = true
    }
  }
}
