import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { Schedule } from '@restante/jobs'
import { Kafka } from '@restante/messaging'
import { Database, sqlUnprepared } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import type { Tenancy } from '@restante/tenancy'
import { countRows, createDatabase, engines, type InboxScope } from '@restante/testkit'
import { openTenancy } from '../../src/tenancy/open-tenancy.ts'
import { INBOX_TABLES } from '../../src/tenancy/tables.ts'
import type { CalendarTimers } from '../../src/timers/kinds.ts'

export const TABLES = ['events', ...INBOX_TABLES]
const START = '2031-01-06T09:00:00'
const AT = '2031-01-06 09:00:00Z'

/** A migrated database, and the component that follows the tenants. Tests deliver events to its consumer. */
export class Calendars {
  readonly db: Database
  readonly timers = new Schedule<CalendarTimers>()
  readonly tenancy: Tenancy
  readonly #drop: () => Promise<void>

  static async create(): Promise<Calendars> {
    const { url, drop } = await createDatabase(path.resolve(import.meta.dirname, '../..'))
    return new Calendars(new Database({ url, applicationName: 'test' }), drop)
  }

  private constructor(db: Database, drop: () => Promise<void>) {
    this.db = db
    this.#drop = drop
    const log = createLogger({ service: 'calendar', level: 'silent' })
    const kafka = new Kafka({
      brokers: engines.kafkaBrokers,
      clientId: 'test',
      replication: 1,
      minInsyncReplicas: 1,
      topicPrefix: `test-${randomUUID().slice(0, 8)}-`,
      log,
    })
    this.tenancy = openTenancy({ kafka, db, log, timers: this.timers })
  }

  async stop(): Promise<void> {
    await this.db.stop()
    await this.#drop()
  }

  /** An event of an inbox with a row in every table, and its timers. @returns its id. */
  async fill(inbox: InboxScope, takeOvers = 0): Promise<string> {
    const id = randomUUID()
    const mail = randomUUID()
    const placed = { inbox_uid: inbox.inboxUid, organization_id: inbox.organizationId }
    const scope = { ...placed, pod_id: inbox.podId }
    const times = { start_at: AT, end_at: '2031-01-06 10:00:00Z' }
    const stamps = { created_at: '2026-01-01', updated_at: '2026-01-01' }
    const date = { event_id: id, slot: START, ...placed }
    const schedule = {
      all_day: false,
      start: START,
      timezone: 'UTC',
      duration_mode: 'exact',
      duration_value: 3_600_000,
    }
    await this.insert('calendars', { ...scope, address: inbox.address, event_count: 1 }, 'event_count')
    const made = { kind: 'single', title: 'Review', status: 'confirmed', uid: id, source: 'api', take_overs: takeOvers }
    await this.insert('events', { id, ...scope, ...schedule, ...times, ...made, seen_until: '2026-01-01', ...stamps })
    await this.insert('edits', { ...date, mode: 'single', fields: {}, ...stamps })
    await this.insert('begun_dates', { ...date, ...schedule, ...times, status: 'confirmed', state: 'ended' })
    await this.insert('cancelled_dates', { ...date, document: {}, cancelled_at: AT })
    await this.insert('date_responses', { ...date, email: 'ada@x.test', status: 'accepted', responded_at: AT })
    const created = { hash: '\\x00', event_id: id, operation_id: randomUUID() }
    await this.insert('create_keys', { ...placed, client_id: id, ...created })
    await this.insert('deletions', { id, ...placed, key: id, request: '', answer: {}, expires_at: AT })
    const told = {
      about: 'invitation',
      title: 'Review',
      text: '',
      method: 'REQUEST',
      calendar: '',
      only_invited: false,
    }
    const content = { recipient: 'ada@x.test', message_id: `<${mail}@x.test>`, take_overs: takeOvers, ...told }
    await this.insert('outgoing_mails', { id: mail, ...placed, event_id: id, ...content, created_at: '2026-01-01' })
    await this.insert('invited', { event_id: id, email: 'ada@x.test', message_id: `<${mail}@x.test>`, ...placed })
    const feed = { hash: `\\x${inbox.inboxUid.replaceAll('-', '')}`, take_overs: takeOvers, created_at: '2026-01-01' }
    await this.insert('feeds', { ...scope, ...feed }, 'take_overs')
    const dueAt = new Date(AT)
    await this.db.transaction((tx) =>
      this.timers.scheduleAll(tx, [
        { kind: 'boundary', key: id, dueAt, payload: { event_id: id } },
        { kind: 'invitation-out', key: mail, dueAt, payload: { mail_id: mail } },
      ]),
    )
    return id
  }

  /** @param added column that a second row of the inbox adds to, or replaces. */
  async insert(table: string, row: Readonly<Record<string, unknown>>, added?: string): Promise<void> {
    const names = Object.keys(row)
    const value = added === 'event_count' ? `${table}.event_count + 1` : `excluded.${added}`
    const conflict = added === undefined ? '' : ` on conflict (inbox_uid) do update set ${added} = ${value}`
    const text = `insert into ${table} (${names.join()})
      select ${names.join()} from jsonb_populate_record(null::${table}, $1::jsonb)${conflict}`
    await this.db.query(sqlUnprepared<never, [string]>(text), JSON.stringify(row))
  }

  /** The number of rows of each table that has one of an inbox. */
  async rowsOf({ inboxUid }: InboxScope): Promise<Readonly<Record<string, number>>> {
    const counted = await Promise.all(
      TABLES.map(
        async (table) => [table, await countRows(this.db, `${table} where inbox_uid = $1`, inboxUid)] as const,
      ),
    )
    return Object.fromEntries(counted.filter(([, count]) => count > 0))
  }
}
