import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { byLength, PATIENCE_MS } from '@restante/testkit'
import type { Answer } from '../../support/api.ts'
import type { Tenant } from '../../support/tenants.ts'

/** A reply that was answered with 2xx. */
export interface Reply {
  readonly inboxId: string
  readonly messageId: string
  readonly text: string
}

const PAUSE_MS = byLength({ short: 1_000, long: 500 })
const RETRY_MS = 400
const ATTEMPT_MS = PATIENCE_MS / 2

/**
 * An agent that reads its mail and replies, one reply at a time. A request that fails because of an outage is repeated
 * with the same `Idempotency-Key`; any other failure ends the agent with an error.
 */
export class Correspondent {
  readonly replies: Reply[] = []
  /** Requests that had to be repeated, with the reason. */
  readonly setbacks: string[] = []
  readonly #tenant: Tenant
  readonly #inboxes: readonly string[]
  readonly #name: string
  #stopped = false
  #running: Promise<void> = Promise.resolve()

  /** @param name prefix of its texts, which distinguishes its replies from those of other agents. */
  constructor(tenant: Tenant, inboxes: readonly string[], name: string) {
    this.#name = name
    this.#tenant = tenant
    this.#inboxes = inboxes
  }

  start(): this {
    this.#running = this.#run()
    // Reported by `stop`.
    this.#running.catch(() => undefined)
    return this
  }

  /** Resolves when the current reply is sent. @throws Error when a request was refused. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    for (let turn = 0; !this.#stopped; turn++) {
      const inboxId = this.#inboxes[turn % this.#inboxes.length] ?? ''
      const inbox = `/v0/inboxes/${encodeURIComponent(inboxId)}`
      const { body } = await this.#ask('GET', `${inbox}/messages?limit=1&labels=received`)
      const [message] = Array.isArray(body['messages']) ? body['messages'] : []
      const answered: unknown = Object(message)['message_id']
      if (typeof answered === 'string') {
        const text = `${this.#name}, reply ${turn}`
        const path = `${inbox}/messages/${encodeURIComponent(answered)}/reply`
        const sent = await this.#ask('POST', path, { text })
        this.replies.push({ inboxId, messageId: String(sent.body['message_id']), text })
      }
      await sleep(PAUSE_MS)
    }
  }

  async #ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = { 'idempotency-key': randomUUID() }
    for (;;) {
      try {
        const signal = AbortSignal.timeout(ATTEMPT_MS)
        const answer = await this.#tenant.api.request(method, path, { body, headers, signal })
        if (answer.status < 300) return answer
        // The previous attempt may still be in progress.
        const inProgress = answer.status === 409 && this.setbacks.length > 0
        if (answer.status < 500 && !inProgress) throw new Refused(`${method} ${path}: ${JSON.stringify(answer.body)}`)
        this.setbacks.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      } catch (error) {
        if (error instanceof Refused) throw error
        this.setbacks.push(`${method} ${path}: ${String(error)}`)
      }
      await sleep(RETRY_MS)
    }
  }
}

class Refused extends Error {
  override readonly name = 'Refused'
}
