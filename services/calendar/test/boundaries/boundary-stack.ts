import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { CalendarEvent } from '@restante/contracts/resources'
import { Schedule } from '@restante/jobs'
import { Database, sql } from '@restante/service/database'
import { createDatabase, openRedis, type TestDatabase, type TestRedis, waitFor } from '@restante/testkit'
import type { EventState } from '../../src/model/rows.ts'
import { loadState, saveState, touchCalendar } from '../../src/store/index.ts'
import { scheduleBoundary } from '../../src/timers/boundary.ts'
import type { CalendarTimers } from '../../src/timers/kinds.ts'
import { BoundaryProcess } from './process.ts'
import { Replica } from './replica.ts'

interface ToldPayload {
  readonly event_type: string
  readonly event_id: string
  readonly inbox_id: string
  readonly scheduled_at: string
  readonly calendar_event: CalendarEvent
}

/** A boundary that was told. */
export interface Told extends ToldPayload {
  /** Of its envelope. */
  readonly id: string
  readonly time: Date
}

const OUTBOX = sql<{ id: string; time: Date; payload: string }, [eventIds: readonly string[]]>(
  'select id, time, payload from outbox where subject = any($1::text[]) order by position',
)
const COUNT = sql<{ count: string }>('select count(*) from outbox')
const WAITING = sql<{ key: string }>("select key from timers where kind = 'boundary' limit 1")
const ADDRESS = 'agent@example.com'

/** A database with events whose boundaries are told by any number of processes. */
export class BoundaryStack {
  readonly db: Database
  readonly redis: TestRedis
  readonly #database: TestDatabase
  readonly #processes: BoundaryProcess[] = []
  readonly #replicas: Replica[] = []

  static async create(): Promise<BoundaryStack> {
    return new BoundaryStack(await createDatabase(path.resolve(import.meta.dirname, '../..')), openRedis())
  }

  private constructor(database: TestDatabase, redis: TestRedis) {
    this.#database = database
    this.db = new Database({ url: database.url, applicationName: 'test' })
    this.redis = redis
  }

  /** The arguments of another process. */
  get options() {
    return { databaseUrl: this.#database.url, redisUrl: this.redis.url, prefix: this.redis.prefix }
  }

  /** Starts one more process that tells. */
  async process(): Promise<BoundaryProcess> {
    const process = new BoundaryProcess(this.options)
    await process.timers.start()
    this.#processes.push(process)
    return process
  }

  /** Starts one more process of the operating system that tells. */
  async replica(): Promise<Replica> {
    const replica = await Replica.start(this.options)
    this.#replicas.push(replica)
    return replica
  }

  /** Stores an event with a new id in a new calendar, as its creation does at an instant. @returns what is stored. */
  async create(state: EventState, at = new Date()): Promise<EventState> {
    const ids = { id: randomUUID(), inbox_uid: randomUUID() }
    const event = { ...state.event, ...ids, uid: `${ids.id}@example.com` }
    const of = { event_id: ids.id, inbox_uid: ids.inbox_uid }
    const stored = {
      ...state,
      event,
      edits: state.edits.map((row) => ({ ...row, ...of })),
      begun: state.begun.map((row) => ({ ...row, ...of })),
    }
    const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid } = event
    await this.db.transaction(async (tx) => {
      await touchCalendar(tx, { organizationId, podId, inboxUid, address: ADDRESS }, 1)
      await saveState(tx, undefined, stored)
      await scheduleBoundary(tx, this.#schedule(), stored, at)
    })
    return stored
  }

  /** Changes an event, as a request does. */
  async change(state: EventState, change: (stored: EventState) => EventState): Promise<void> {
    const { inbox_uid, id } = state.event
    await this.db.transaction(async (tx) => {
      const stored = await loadState(tx, inbox_uid, id, { lock: true })
      if (stored === undefined) throw new Error('the event is gone')
      const changed = change(stored)
      await saveState(tx, stored, changed)
      await scheduleBoundary(tx, this.#schedule(), changed, new Date())
    })
  }

  /** What is stored of an event. */
  async load({ event }: EventState): Promise<EventState> {
    const state = await loadState(this.db, event.inbox_uid, event.id)
    if (state === undefined) throw new Error('the event is gone')
    return state
  }

  /** Everything that was told of events. */
  async told(...of: readonly EventState[]): Promise<Told[]> {
    const ids = of.map(({ event }) => event.id)
    const rows = await this.db.query(OUTBOX, ids)
    return rows.map(({ id, time, payload }) => ({ ...(JSON.parse(payload) as ToldPayload), id, time }))
  }

  /** How many boundaries were told. */
  async count(): Promise<number> {
    return Number((await this.db.query(COUNT))[0]?.count)
  }

  /** Resolves when no boundary is to come any more. */
  async finished(timeout: number): Promise<void> {
    await waitFor(async () => (await this.db.query(WAITING)).length === 0, {
      what: 'the last boundary',
      timeout,
      interval: 100,
    })
  }

  /** Resolves to what was told of an event when it is so many. */
  toldOf(state: EventState, count: number): Promise<Told[]> {
    const what = `${count} boundaries`
    return waitFor(
      async () => {
        const told = await this.told(state)
        return told.length >= count && told
      },
      { what },
    )
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes, ...this.#replicas].map((process) => process.stop()))
    await this.redis.close()
    await this.db.stop()
    await this.#database.drop()
  }

  /** Processes of the test learn at once what is due; others find it. */
  #schedule(): Schedule<CalendarTimers> {
    return this.#processes[0]?.timers ?? new Schedule<CalendarTimers>()
  }
}
