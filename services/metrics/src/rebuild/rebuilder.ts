import { hasProcessed, type Kafka } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import { isInfrastructureError, messageOf } from '@restante/service/errors'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { LIVE_GROUPS, liveConsumerOf } from '../counting/running-rebuild.ts'
import { withLease } from '../leading/lease.ts'
import { RETAINED_MS } from '../series/retention.ts'
import { dayOf } from '../series/series.ts'
import { firstWholeDay, heldSince, RebuildFailedError } from './plan.ts'
import { readEventsOf } from './read.ts'
import { settleRebuilt } from './settle-rebuilt.ts'
import { failRebuild, forgetMarks, lastRebuild, planReading, type RebuildRow, rangesOf, startRebuild } from './store.ts'
import { switchOver } from './switch.ts'

const EVERY_MS = 1_000
/** Runs that end with an unknown error before the rebuild fails. */
const ATTEMPTS = 5

interface RebuilderOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
}

/**
 * Rebuilds what the topics still hold beside the live points, and switches over. One process at a time works on it; another
 * one goes on where it was killed.
 */
export class Rebuilder extends Periodic {
  readonly #options: RebuilderOptions
  #failures = 0

  constructor(options: RebuilderOptions) {
    const { log } = options
    super({ name: 'rebuild', everyMs: EVERY_MS, log, work: (stopping) => this.#work(stopping) })
    this.#options = options
  }

  /** Starts a rebuild. @returns false when one is running. */
  async begin(operator: string): Promise<boolean> {
    const { kafka, db, log } = this.#options
    const cutDay = await firstWholeDay(kafka, dayOf(Date.now() - RETAINED_MS))
    const started = await startRebuild(db, operator, cutDay)
    if (started) log.info({ operator, day: cutDay }, 'rebuild started')
    this.notify()
    return started
  }

  async #work(stopping: AbortSignal): Promise<void> {
    const { db, log } = this.#options
    const rebuild = await lastRebuild(db)
    if (rebuild === undefined) return
    if (rebuild.state !== 'reading') return forgetMarks(db, stopping)
    await withLease(db, 'rebuild', stopping, async (lease) => {
      try {
        await this.#proceed(rebuild, lease.stopping)
        this.#failures = 0
      } catch (error) {
        if (!this.#isFinal(error)) throw error
        log.error({ rebuild: rebuild.id, err: error }, 'rebuild failed')
        await failRebuild(db, rebuild.id, messageOf(error))
      }
    })
  }

  async #proceed(rebuild: RebuildRow, stopping: AbortSignal): Promise<void> {
    const { kafka, db, log } = this.#options
    const { id, cut_day } = rebuild
    if ((await rangesOf(db, id)) === undefined) await planReading(db, id, await heldSince(kafka, cut_day))
    const ranges = (await rangesOf(db, id)) ?? []
    const left = ranges.flatMap(({ next, ...range }) => (next < range.until ? [{ ...range, offset: next }] : []))
    if (left.length > 0) {
      await readEventsOf(rebuild, left, { kafka, db, log, stopping })
      if (stopping.aborted) return
      await settleRebuilt(db, stopping)
      this.notify()
      return
    }
    // What a live consumer has not counted yet it could not withdraw either, should its inbox be deleted now.
    for (const [consumer, of] of Map.groupBy(ranges, ({ topic }) => liveConsumerOf(topic)))
      if (!(await hasProcessed(kafka, LIVE_GROUPS[consumer], of))) return
    await switchOver(db, rebuild)
    log.info({ rebuild: id, records: rebuild.total }, 'rebuild switched over')
  }

  #isFinal(error: unknown): boolean {
    if (error instanceof RebuildFailedError) return true
    if (isInfrastructureError(error) || isErrorOfKafka(error)) return false
    this.#failures++
    return this.#failures >= ATTEMPTS
  }
}

function isErrorOfKafka(error: unknown): boolean {
  return error instanceof Error && error.name.startsWith('KafkaJS')
}
