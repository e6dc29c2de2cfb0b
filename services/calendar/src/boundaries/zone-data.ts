import type { Timers } from '@restante/jobs'
import { type Database, sql } from '@restante/service/database'
import type { Component } from '@restante/service/process'
import { dateAt, instantsOf, lastEndOf } from '../dates/index.ts'
import type { EditRow, EventState } from '../model/rows.ts'
import { loadState, saveState } from '../store/index.ts'
import { scheduleBoundary } from '../timers/boundary.ts'
import type { CalendarTimers } from '../timers/kinds.ts'

const BATCH = 100
const ATTEMPT_MS = 60_000
const RETRY_MS = 60_000
/** The timer stays when its work is done, and says so to later starts. */
const NEVER = new Date('9999-01-01T00:00:00Z')
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
  /** Of the time zone data. Default: that of the runtime. */
  readonly version?: string
}

/**
 * When a release brings other time zone data, the instants that lie in the future are computed anew, once and in the
 * background, and no event tells of it (calendar 4). Dates that have begun stay as they ran.
 */
export class ZoneData implements Component {
  readonly name = 'zone-data'
  readonly #options: ZoneDataOptions

  constructor(options: ZoneDataOptions) {
    const { db, timers } = options
    this.#options = options
    const retry = () => new Date(Date.now() + RETRY_MS)
    timers.work(
      'zone-data',
      { concurrency: 1, attemptMs: ATTEMPT_MS, retry },
      async ({ timer, signal, run, postpone }) => {
        const rows = await db.query(NEXT, timer.payload.after, BATCH)
        for (const row of rows) {
          signal.throwIfAborted()
          await this.#update(row)
        }
        const after = rows.at(-1)?.id ?? timer.payload.after
        await run((tx) => postpone(tx, rows.length === BATCH ? new Date() : NEVER, { after }))
      },
    )
  }

  async start(): Promise<void> {
    const { db, timers, version = process.versions['tz'] ?? 'unknown' } = this.#options
    const timer = { kind: 'zone-data' as const, key: version, payload: { after: FIRST } }
    await db.transaction((tx) => timers.scheduleIfMissing(tx, timer))
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
