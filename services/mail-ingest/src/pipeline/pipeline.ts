import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Bell, isInfrastructureError, type Logger, type Part } from '@restante/service'
import { inSpan } from '../telemetry/spans.ts'
import { type PipelineTools, processMail } from './process-mail.ts'
import { type LeasedMail, LeaseLost, queue } from './queue.ts'
import { mailAttempts, mailLatency } from './telemetry.ts'

export interface PipelineOptions {
  readonly tools: PipelineTools
  /** Rung when mail was accepted. */
  readonly bell: Bell
  /** Mails processed at once. */
  readonly concurrency: number
}

/** How often an idle pipeline looks by itself: the guarantee, where the bell is the speed. */
const POLL_MS = 500
const OUTAGE_MS = 1_000
/** Without a turn of its loop for so long the pipeline is not alive. */
const STALLED_MS = 30_000
const RETRY_MS = [0, 500, 2_000, 10_000, 60_000] as const
/** Wait after a failure that is not the mail's. */
const INFRASTRUCTURE_RETRY_MS = 2_000

/**
 * Brings accepted mail into its mailboxes: leases the oldest mail of each inbox, never two of one inbox at a time, and
 * takes it through the steps. A failure gives the mail back; a crash leaves a lease that ends by itself.
 */
export class Pipeline implements Part {
  readonly name = 'pipeline'
  readonly #options: PipelineOptions
  readonly #log: Logger
  readonly #active = new Set<Promise<void>>()
  #stopping = false
  #running: Promise<void> = Promise.resolve()
  #tickedAt = 0

  constructor(options: PipelineOptions) {
    this.#options = options
    this.#log = options.tools.log
  }

  async start(): Promise<void> {
    this.#tickedAt = Date.now()
    this.#running = this.#run()
  }

  async ready(): Promise<void> {
    const age = Date.now() - this.#tickedAt
    if (age > STALLED_MS) throw new Error(`the pipeline has not looked for mail for ${Math.round(age / 1_000)} s`)
  }

  /** Finishes the mails that are being processed and takes no more. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#options.bell.ring()
    await this.#running
    await Promise.all(this.#active)
  }

  async #run(): Promise<void> {
    const { bell } = this.#options
    while (!this.#stopping) {
      try {
        const taken = await this.#take()
        this.#tickedAt = Date.now()
        if (taken === 0) await bell.wait(POLL_MS)
      } catch (error) {
        this.#log.warn({ err: error }, 'no mail can be taken from the queue')
        await wait(OUTAGE_MS)
      }
    }
  }

  /** @returns how many mails were taken; 0 when there is none, or no room for one. */
  async #take(): Promise<number> {
    const { tools, concurrency, bell } = this.#options
    const room = concurrency - this.#active.size
    if (room <= 0) return 0
    const mails = await queue.lease(tools.db, randomUUID(), room)
    for (const mail of mails) {
      const work = this.#process(mail).finally(() => {
        this.#active.delete(work)
        bell.ring()
      })
      this.#active.add(work)
    }
    return mails.length
  }

  async #process(mail: LeasedMail): Promise<void> {
    const begun = performance.now()
    const common = { mail: mail.id, attempt: mail.attempts, size: mail.size }
    const elapsed = () => Math.round((performance.now() - begun) * 10) / 10
    try {
      const { traceparent } = mail.envelope
      const facts = await inSpan('process mail', traceparent, () => processMail(mail, this.#options.tools))
      mailAttempts.inc({ outcome: facts.outcome })
      mailLatency.observe((Date.now() - mail.receivedAt.getTime()) / 1_000)
      this.#log.info({ ...common, ...facts, ms: elapsed() }, 'mail processed')
    } catch (error) {
      await this.#giveBack(mail, error, { ...common, ms: elapsed() })
    }
  }

  async #giveBack(mail: LeasedMail, error: unknown, facts: Record<string, unknown>): Promise<void> {
    if (error instanceof LeaseLost) {
      mailAttempts.inc({ outcome: 'lease_lost' })
      this.#log.warn(facts, 'another worker has taken a mail over')
      return
    }
    const outage = isInfrastructureError(error)
    const waitMs = outage ? INFRASTRUCTURE_RETRY_MS : (RETRY_MS[mail.attempts - 1] ?? RETRY_MS[4])
    mailAttempts.inc({ outcome: outage ? 'outage' : 'failed' })
    this.#log.error({ ...facts, err: error, outage, wait_ms: waitMs }, 'mail not processed')
    // When this fails too, the lease ends by itself.
    await queue.release(this.#options.tools.db, mail, !outage, waitMs).catch(() => {})
  }
}
