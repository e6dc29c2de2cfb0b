import pg from 'pg'
import type { Endpoints } from '../../../stack/endpoints.ts'

/** What a copy of an event has of its own. All else is that of the event that it copies. */
const OWN: Readonly<Record<string, string>> = {
  id: 'copy.id',
  uid: `copy.id || '@bench.test'`,
  start: `to_char(source.start_at at time zone 'UTC' + copy.shift, 'YYYY-MM-DD"T"HH24:MI:SS')`,
  start_at: 'source.start_at + copy.shift',
  end_at: 'source.end_at + copy.shift',
  last_end_at: 'source.last_end_at + copy.shift',
}

export interface CopiedEvents {
  /** The event, in UTC, of which copies are made in its calendar. */
  readonly pattern: string
  readonly count: number
  /** The time that copies are apart, in seconds. */
  readonly apart: number
  /** Whether each gets the timer of its first start. */
  readonly timers?: boolean
}

/** Fills calendars with copies of events: as the service would have stored them, and hundreds of times faster. */
export class EventCopies {
  readonly #client: pg.Client

  static async open(endpoints: Endpoints): Promise<EventCopies> {
    const client = new pg.Client({ connectionString: endpoints.databases.calendar })
    await client.connect()
    return new EventCopies(client)
  }

  private constructor(client: pg.Client) {
    this.#client = client
  }

  async add({ pattern, count, apart, timers = false }: CopiedEvents): Promise<void> {
    const columns = await this.#columns()
    const values = columns.map((column) => OWN[column] ?? `source.${column}`)
    await this.#client.query(
      `with copy as (select gen_random_uuid() as id, make_interval(secs => floor(n * $3::float8)) as shift from generate_series(1, $2::int) as n),
            added as (insert into events (${columns.join(', ')})
                      select ${values.join(', ')} from events as source cross join copy where source.id = $1 returning id, start_at)
       insert into timers (id, kind, key, due_at, payload)
       select gen_random_uuid(), 'boundary', id, start_at, jsonb_build_object('event_id', id) from added where $4`,
      [pattern, count, apart, timers],
    )
  }

  async analyze(): Promise<void> {
    await this.#client.query('vacuum analyze events')
  }

  /** How late starts and ends were told so far, in milliseconds, and of how many ids. */
  async told(): Promise<{ readonly lags: number[]; readonly ids: number }> {
    const { rows } = await this.#client.query<{ lag: number; id: string }>(
      `select extract(epoch from time - (payload::jsonb ->> 'scheduled_at')::timestamptz)::float8 * 1000 as lag, id
         from outbox where type in ('calendar.event.starting', 'calendar.event.ending')`,
    )
    return { lags: rows.map(({ lag }) => lag), ids: new Set(rows.map(({ id }) => id)).size }
  }

  async stop(): Promise<void> {
    await this.#client.end()
  }

  async #columns(): Promise<string[]> {
    const { rows } = await this.#client.query<{ name: string }>(
      `select column_name as name from information_schema.columns
        where table_schema = current_schema and table_name = 'events' order by ordinal_position`,
    )
    return rows.map(({ name }) => name)
  }
}
