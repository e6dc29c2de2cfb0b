import type { Timers } from '@restante/jobs'
import { type Database, sql } from '@restante/service/database'
import { isInfrastructureError } from '@restante/service/errors'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { dateAt, instantsOf, lastEndOf } from '../dates/index.ts'
import type { EditRow, EventState } from '../model/rows.ts'
import { loadState, saveState } from '../store/index.ts'
import { scheduleBoundary } from '../timers/boundary.ts'
import type { CalendarTimers, ZoneDataMark } from '../timers/kinds.ts'

const BATCH = 100
const ATTEMPT_MS = 60_000
const RETRY_MS = 60_000
/** While a release is rolled out, processes with either data may look at the mark: the last of them has its way. */
const RECHECK_MS = 10 * 60_000
/** Work that other data has begun is left to the processes that have it, unless they make no step for so long. */
const ABANDONED_MS = 60_000
const OTHERS_MS = 2_000
const KEY = 'present'
const FIRST = '00000000-0000-0000-0000-000000000000'

// What lies in UTC, or is over by any data, stays where it is.
const NEXT = sql<{ id: string; inbox_uid: string }, [after: string, rows: number]>(
  `select id, inbox_uid from events
    where id > $1 and timezone <> 'UTC' and (last_end_at is null or last_end_at > now() - interval '3 days')
    order by id limit $2`,
)

export interface ZoneDataOptions {
  readonly db: Database
  readonly timers: Timers<CalendarTimers>
  readonly log: Logger
  /** Of the time zone data. Default: that of the runtime. */
  readonly version?: string
}

/**
 * Computes the instants of the future again when the time zone data is another one, after an update or a rollback
 * (calendar 4). It happens once, in the background, and raises no event. Dates that have begun stay as they ran. The only
 * timer of this kind is never deleted: it records which data was applied last.
 */
export class ZoneData implements Component {
  readonly name = 'zone-data'
  readonly #options: ZoneDataOptions

  constructor(options: ZoneDataOptions) {
    const { timers } = options
    this.#options = options
    const retry = () => new Date(Date.now() + RETRY_MS)
    timers.work(
      'zone-data',
      { concurrency: 1, attemptMs: ATTEMPT_MS, retry },
      async ({ timer, signal, run, postpone, defer }) => {
        if (this.#isOthers(timer.payload)) return defer(new Date(Date.now() + OTHERS_MS))
        const from = timer.payload.version === this.#version ? timer.payload.after : FIRST
        const after = from === null ? null : await this.#updateAfter(from, signal)
        const dueAt = new Date(Date.now() + (after === null ? RECHECK_MS : 0))
        await run((tx) => postpone(tx, dueAt, this.#mark(after)))
      },
    )
  }

  /** Has the mark looked at now. */
  async start(): Promise<void> {
    const { db, timers } = this.#options
    await db.transaction(async (tx) => {
      await timers.scheduleIfMissing(tx, { kind: 'zone-data', key: KEY, payload: this.#mark(FIRST) })
      await timers.advance(tx, 'zone-data', [KEY])
    })
  }

  get #version(): string {
    return this.#options.version ?? process.versions['tz'] ?? 'unknown'
  }

  #mark(after: string | null): ZoneDataMark {
    return { version: this.#version, after, at: new Date().toISOString() }
  }

  #isOthers({ version, after, at }: ZoneDataMark): boolean {
    return version !== this.#version && after !== null && Date.now() - Date.parse(at) < ABANDONED_MS
  }

  /** @returns the last event of a batch; null when there are no more. */
  async #updateAfter(after: string, signal: AbortSignal): Promise<string | null> {
    const rows = await this.#options.db.query(NEXT, after, BATCH)
    for (const row of rows) {
      signal.throwIfAborted()
      await this.#update(row).catch((error: unknown) => {
        // What fails by itself would fail again, and all others would wait for it.
        if (signal.aborted || isInfrastructureError(error)) throw error
        this.#options.log.error({ err: error, event: row.id }, 'instants of an event could not be computed anew')
      })
    }
    return rows.length === BATCH ? (rows.at(-1)?.id ?? null) : null
  }

  async #update({ id, inbox_uid }: { readonly id: string; readonly inbox_uid: string }): Promise<void> {
    const { db, timers } = this.#options
    await db.transaction(async (tx) => {
      const state = await loadState(tx, inbox_uid, id, { lock: true })
      if (state === undefined) return
      const now = new Date()
      const computed = computedAnew(state, now)
      await saveState(tx, state, computed)
      await scheduleBoundary(tx, timers, computed, now)
    })
  }
}

/** An event with the instants that the present time zone data gives. */
function computedAnew(state: EventState, now: Date): EventState {
  const isOver = state.event.start_at <= now
  const event = { ...state.event, ...(!isOver && instantsOf(state.event)) }
  const edits = state.edits.map((row): EditRow => {
    if (row.mode === 'future' || state.begun.some(({ slot }) => slot === row.slot)) return row
    const date = dateAt({ ...state, event }, row.slot)
    return date === undefined ? row : { ...row, start_at: date.start_at, end_at: date.end_at }
  })
  return { ...state, event: { ...event, last_end_at: lastEndOf(event, edits) }, edits }
}
