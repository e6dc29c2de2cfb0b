import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { Database, sqlUnprepared } from '@restante/service/database'
import { createDatabase } from '@restante/testkit'
import { instantsOf, lastEndOf } from '../../src/dates/index.ts'
import type { BegunDateRow, CancelledDateRow, DateResponseRow, EditRow, EventRow } from '../../src/model/rows.ts'

export const DAY = 24 * 60 * 60 * 1_000

/** A migrated database, with rows as a test writes them. */
export class CalendarRows {
  readonly db: Database
  readonly #drop: () => Promise<void>

  static async create(): Promise<CalendarRows> {
    const { url, drop } = await createDatabase(path.resolve(import.meta.dirname, '../..'))
    return new CalendarRows(new Database({ url, applicationName: 'test' }), drop)
  }

  private constructor(db: Database, drop: () => Promise<void>) {
    this.db = db
    this.#drop = drop
  }

  async stop(): Promise<void> {
    await this.db.stop()
    await this.#drop()
  }

  /** Stores events: one-offs, and series of those that have a rule. */
  async events(inbox: TestInbox, ...given: (Partial<EventRow> & Pick<EventRow, 'start'>)[]): Promise<EventRow[]> {
    const rows = given.map((fields) => eventRow(inbox, fields))
    await this.#insert('events', rows)
    return rows
  }

  async event(inbox: TestInbox, fields: Partial<EventRow> & Pick<EventRow, 'start'>): Promise<EventRow> {
    const row = eventRow(inbox, fields)
    await this.#insert('events', [row])
    return row
  }

  async edit(event: EventRow, edit: Pick<EditRow, 'slot' | 'mode' | 'fields'> & Partial<EditRow>): Promise<void> {
    const { all_day, timezone, duration_mode, duration_value } = event
    const start = edit.fields.start ?? edit.slot
    const times = instantsOf({ all_day, timezone, duration_mode, duration_value, ...edit.fields, start })
    const row = { ...shared(event), revision: 0, sequence: 0, ...(edit.mode === 'single' && times), ...edit }
    await this.#insert('edits', [
      { ...row, created_at: event.created_at, updated_at: edit.updated_at ?? event.updated_at },
    ])
  }

  async begun(event: EventRow, begun: Pick<BegunDateRow, 'slot' | 'state'> & Partial<BegunDateRow>): Promise<void> {
    const { all_day, timezone, duration_mode, duration_value, status } = event
    const schedule = { all_day, timezone, duration_mode, duration_value, start: begun.slot }
    await this.#insert('begun_dates', [{ ...shared(event), ...schedule, ...instantsOf(schedule), status, ...begun }])
  }

  cancelled(event: EventRow, row: Pick<CancelledDateRow, 'slot' | 'document' | 'cancelled_at'>): Promise<void> {
    return this.#insert('cancelled_dates', [{ ...shared(event), ...row }])
  }

  response(event: EventRow, row: Pick<DateResponseRow, 'slot' | 'email' | 'status'>): Promise<void> {
    return this.#insert('date_responses', [{ ...shared(event), ...row, responded_at: event.updated_at }])
  }

  set(event: EventRow, fields: Partial<EventRow>): Promise<void> {
    const names = Object.keys(fields)
    const set = names.map((name) => `${name} = changed.${name}`).join(', ')
    const text = `update events set ${set} from jsonb_populate_record(null::events, $2::jsonb) as changed where events.id = $1`
    return this.db.query(sqlUnprepared<never, [string, string]>(text), event.id, JSON.stringify(fields)).then(() => {})
  }

  #insert(table: string, rows: readonly object[]): Promise<void> {
    return insertRows(this.db, table, rows)
  }
}

/** Stores rows as they are. */
export async function insertRows(db: Database, table: string, rows: readonly object[]): Promise<void> {
  const text = `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`
  await db.query(sqlUnprepared<never, [string]>(text), JSON.stringify(rows))
}

export interface TestInbox {
  readonly uid: string
  readonly address: string
}

export function testInbox(): TestInbox {
  const uid = randomUUID()
  return { uid, address: `inbox-${uid.slice(0, 8)}@example.com` }
}

function shared({ id, inbox_uid, organization_id }: EventRow) {
  return { event_id: id, inbox_uid, organization_id }
}

/** A row of an event, with what a test says of it. */
export function eventRow({ uid, address }: TestInbox, fields: Partial<EventRow> & Pick<EventRow, 'start'>): EventRow {
  const id = fields.id ?? randomUUID()
  const { all_day = false, rule = null } = fields
  const schedule = {
    all_day,
    start: fields.start,
    timezone: fields.timezone ?? 'UTC',
    duration_mode: fields.duration_mode ?? (rule === null && !all_day ? ('exact' as const) : ('nominal' as const)),
    duration_value: fields.duration_value ?? (all_day ? 1 : 30 * 60 * 1_000),
  }
  const created = fields.created_at ?? new Date('2026-01-01T00:00:00.000Z')
  const row: EventRow = {
    id,
    inbox_uid: uid,
    organization_id: uid,
    pod_id: uid,
    kind: rule === null ? 'single' : 'series',
    title: 'Event',
    description: null,
    location: null,
    metadata: null,
    status: 'confirmed',
    ...instantsOf(schedule),
    last_end_at: null,
    last_slot: null,
    rule,
    exdates: [],
    rdates: [],
    truncate_before: null,
    truncated_at: null,
    history_before: null,
    attendees: [],
    uid: `${id}@example.com`,
    sequence: 0,
    time_sequence: 0,
    recurrence_id: '',
    source: 'api',
    organizer_email: address,
    origin_message_id: null,
    stamped_at: null,
    revision: 0,
    edits_revision: 0,
    seen_until: created,
    take_overs: 0,
    created_at: created,
    updated_at: created,
    ...schedule,
    ...fields,
  }
  return { ...row, last_end_at: fields.last_end_at === undefined ? lastEndOf(row) : fields.last_end_at }
}
