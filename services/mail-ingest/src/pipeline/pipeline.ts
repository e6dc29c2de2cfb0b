import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ParserOverdueError } from '@restante/mime'
import { Batcher, type ByteSemaphore, type Wakeup } from '@restante/service/concurrency'
import { blamingHeavyStatements } from '@restante/service/database'
import { isInfrastructureError } from '@restante/service/errors'
import { type Component, compactHeap } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { type ConcludingTools, concludeMails, type ProcessingFacts } from './conclusion/conclude-mails.ts'
import { type ExaminationTools, type ExaminedMail, examineMail } from './examination/examine-mail.ts'
import { InboxSlots } from './queue/inbox-slots.ts'
import type { Leases } from './queue/leases.ts'
import { type LeasedMail, LeaseLostError, queue } from './queue/queue.ts'
import { SlowLaneRotation } from './queue/slow-lane-rotation.ts'
import { mailAttempts, mailLatency } from './telemetry.ts'

export interface PipelineTools extends ExaminationTools, ConcludingTools {
  /** Limits the memory of raw mails, each of which is held several times while it is parsed and examined. */
  readonly memory: ByteSemaphore
  /** Called when bytes may have become unused. */
  readonly sweep: () => void
  readonly log: Logger
}

export interface PipelineOptions {
  readonly tools: PipelineTools
  readonly leases: Leases
  /** Signalled when mail was accepted. */
  readonly wakeup: Wakeup
  /** Inboxes whose mail is processed concurrently. */
  readonly concurrency: number
}

/** Poll interval of an idle pipeline. Polling is the guarantee; the wake-up only saves time. */
const POLL_MS = 500
/** Poll interval while all slots are taken. A slot becomes free without a wake-up when its mail takes long. */
const BUSY_POLL_MS = 100
const OUTAGE_MS = 1_000
/** The pipeline is not ready when its loop has not run for this long. */
const STALLED_MS = 30_000
const RETRY_MS = [0, 500, 2_000, 10_000, 60_000] as const
/** Slow mails larger than this count against the shared memory limit. */
const SLOW_BYTES = 4 * 1024 * 1024
/** Before and after a run of so many bytes, memory is given back: its buffers would add to what is not collected yet. */
const LARGE_BYTES = 8 * 1024 * 1024
/** A transaction that takes so long may wait for the lock of a mailbox: the mail of others is stored beside it. */
const RELIEVE_MS = 250
/** Wait after a failure that the mail has not caused. */
const INFRASTRUCTURE_RETRY_MS = 2_000

/**
 * Processes accepted mail: takes the oldest mails of each inbox, examines them concurrently, and concludes them in the
 * order of their arrival; mails that are ready at the same time share a transaction. A failure returns a mail to the
 * queue, together with those after it in its inbox; a crash leaves leases that run out.
 */
export class Pipeline implements Component {
  readonly name = 'pipeline'
  readonly #options: PipelineOptions
  readonly #log: Logger
  readonly #conclusions: Batcher<readonly ExaminedMail[], Awaited<ReturnType<typeof concludeMails>>>
  readonly #slots: InboxSlots
  readonly #rotation = new SlowLaneRotation()
  #stopping = false
  #running: Promise<void> = Promise.resolve()
  #tickedAt = 0

  constructor(options: PipelineOptions) {
    const { tools, concurrency } = options
    this.#options = options
    this.#log = tools.log
    this.#slots = new InboxSlots(concurrency)
    this.#conclusions = new Batcher({
      maxItems: concurrency,
      relieveAfterMs: RELIEVE_MS,
      work: async (runs) => {
        const facts = await this.#concludeTogether(runs.flat())
        return runs.map(() => facts)
      },
    })
  }

  async start(): Promise<void> {
    this.#tickedAt = Date.now()
    this.#running = this.#run()
  }

  async ready(): Promise<void> {
    const age = Date.now() - this.#tickedAt
    if (age > STALLED_MS) throw new Error(`the pipeline has not looked for mail for ${Math.round(age / 1_000)} s`)
  }

  /** Finishes the mails in progress and takes no more. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#options.wakeup.notify()
    await this.#running
    await this.#slots.empty()
  }

  async #run(): Promise<void> {
    const { wakeup, leases } = this.#options
    while (!this.#stopping) {
      try {
        const taken = await this.#take()
        this.#tickedAt = Date.now()
        if (taken === 0) await wakeup.wait(this.#slots.free > 0 ? POLL_MS : BUSY_POLL_MS)
      } catch (error) {
        this.#log.warn({ err: error }, 'taking mail from the queue failed')
        await wait(OUTAGE_MS)
        // Leases may have run out in the meantime: live processes renew theirs before others take over.
        await leases.renew().catch(() => {})
      }
    }
  }

  /** @returns from how many inboxes mail was taken: 0 when there is none, or no free slot. */
  async #take(): Promise<number> {
    const { tools } = this.#options
    const { free, freeSlow } = this.#slots
    if (free + freeSlow === 0) return 0
    const runs = await queue.take(tools.db, randomUUID(), free, freeSlow, this.#rotation)
    for (const mail of runs.flat()) if (mail.slow) this.#rotation.taken(mail)
    const orphans = runs.flat().filter(({ orphaned }) => orphaned)
    for (const run of runs) if (!run.some(({ orphaned }) => orphaned)) void this.#begin(run)
    if (orphans.length > 0) await this.#tryAlone(orphans)
    return runs.length
  }

  #begin(run: readonly LeasedMail[]): Promise<void> {
    const { tools, leases, wakeup } = this.#options
    const bytes = run.reduce((sum, mail) => sum + mail.size, 0)
    const isSlow = run.some(({ slow }) => slow)
    const process = () => (bytes > LARGE_BYTES ? this.#processLarge(run) : this.#process(run))
    // There is one slow mail at a time, so a small one need not count against the memory limit.
    const inMemory = isSlow && bytes <= SLOW_BYTES ? process : () => tools.memory.within(bytes, process)
    return this.#slots.during(leases.during(run, inMemory), isSlow).finally(() => wakeup.notify())
  }

  /**
   * Processes mails that a dead process held, one after the other and with nothing else in progress. If one of them
   * caused the death, it affects no other mail again, and the next death counts against it alone. So an innocent mail
   * loses one attempt at most, however often processes die.
   */
  async #tryAlone(orphans: readonly LeasedMail[]): Promise<void> {
    const { tools, leases } = this.#options
    this.#log.warn({ mails: orphans.map(({ id }) => id) }, 'mails left by a dead worker, each is retried alone')
    await leases.during(orphans, async () => {
      await this.#slots.empty(() => {
        this.#tickedAt = Date.now()
      })
      for (const mail of orphans) {
        // The lease runs out, so the next worker also finds the mail orphaned.
        if (this.#stopping) return
        this.#tickedAt = Date.now()
        if (await queue.count(tools.db, mail)) await this.#begin([mail])
      }
    })
  }

  async #processLarge(run: readonly LeasedMail[]): Promise<void> {
    compactHeap()
    try {
      await this.#process(run)
    } finally {
      compactHeap()
    }
  }

  /**
   * Processes mails of one inbox in order: those before the first failing one are concluded, those after it wait for
   * it.
   */
  async #process(run: readonly LeasedMail[]): Promise<void> {
    const begun = performance.now()
    const { tools } = this.#options
    const verdicts = await Promise.allSettled(run.map((mail) => examineMail(mail, tools)))
    const examined = verdicts.flatMap((verdict) => (verdict.status === 'fulfilled' ? [verdict.value] : []))
    const firstFailed = verdicts.findIndex(({ status }) => status === 'rejected')
    const ready = firstFailed < 0 ? examined : examined.slice(0, firstFailed)
    const failure = (await this.#conclude(ready, begun)) ?? failureOf(run, verdicts)
    for (const { span } of examined) span.end()
    if (failure) await this.#giveBack(failure, run.slice(run.indexOf(failure.mail) + 1), begun)
  }

  /** @returns the first mail that failed; none after it had an effect. */
  async #conclude(ready: readonly ExaminedMail[], begun: number): Promise<Failure | undefined> {
    const [first] = ready
    if (!first) return undefined
    try {
      // A mail that was tried before may make a transaction fail, or take long, so it shares none with other inboxes.
      const wasTried = ready.some(({ mail }) => mail.attempts > 1)
      const facts = await (wasTried ? this.#concludeTogether(ready) : this.#conclusions.add(ready))
      for (const { mail } of ready) this.#concluded(mail, facts.get(mail), begun)
      return undefined
    } catch (error) {
      if (ready.length === 1 || isInfrastructureError(error)) {
        first.span.fail()
        return { mail: first.mail, error }
      }
    }
    // One of the mails made the shared transaction fail, so each is concluded alone.
    for (const one of ready) {
      const failure = await this.#conclude([one], begun)
      if (failure) return failure
    }
    return undefined
  }

  #concludeTogether(examined: readonly ExaminedMail[]): Promise<ReadonlyMap<LeasedMail, ProcessingFacts>> {
    const { tools } = this.#options
    const mails = examined.map(({ mail }) => mail)
    return blamingHeavyStatements(
      () => concludeMails(examined, tools),
      () => queue.renew(tools.db, mails),
    )
  }

  #concluded(mail: LeasedMail, facts: ProcessingFacts | undefined, begun: number): void {
    const outcome = facts?.outcome ?? 'unknown'
    mailAttempts.inc({ outcome })
    mailLatency.observe((Date.now() - mail.receivedAt.getTime()) / 1_000)
    this.#log.info({ ...common(mail, begun), ...facts }, 'mail processed')
    if (outcome !== 'stored') this.#options.tools.sweep()
  }

  async #giveBack({ mail, error }: Failure, following: readonly LeasedMail[], begun: number): Promise<void> {
    const { db } = this.#options.tools
    const facts = common(mail, begun)
    if (error instanceof ParserOverdueError) {
      mailAttempts.inc({ outcome: 'overdue' })
      this.#log.info(facts, 'mail moved to the slow lane, its first attempt took too long')
      await queue.moveToSlowLane(db, mail).catch(() => {})
      await queue.release(db, following, false, 0).catch(() => {})
      return
    }
    const outage = isInfrastructureError(error)
    const waitMs = outage ? INFRASTRUCTURE_RETRY_MS : (RETRY_MS[mail.attempts - 1] ?? RETRY_MS[4])
    if (error instanceof LeaseLostError) {
      mailAttempts.inc({ outcome: 'lease_lost' })
      this.#log.warn(facts, 'mail taken over by another worker')
    } else {
      mailAttempts.inc({ outcome: outage ? 'outage' : 'failed' })
      this.#log.error({ ...facts, err: error, outage, wait_ms: waitMs }, 'mail not processed')
    }
    // If this fails too, the leases run out.
    await queue.release(db, [mail], !outage, waitMs).catch(() => {})
    await queue.release(db, following, false, 0).catch(() => {})
  }
}

interface Failure {
  readonly mail: LeasedMail
  readonly error: unknown
}

function failureOf(
  run: readonly LeasedMail[],
  verdicts: readonly PromiseSettledResult<unknown>[],
): Failure | undefined {
  for (const [index, mail] of run.entries()) {
    const verdict = verdicts[index]
    if (verdict?.status === 'rejected') return { mail, error: verdict.reason }
  }
  return undefined
}

function common({ id, attempts, size }: LeasedMail, begun: number) {
  return { mail: id, attempt: attempts, size, ms: Math.round((performance.now() - begun) * 10) / 10 }
}
