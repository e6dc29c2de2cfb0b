import pg from 'pg'
import type { Endpoints } from '../../stack/endpoints.ts'

export interface CopyOptions {
  readonly endpoints: Endpoints
  /** The inbox whose messages are copied. */
  readonly pattern: string
  /** The copies are numbered; those from this number to the other are made. */
  readonly from: number
  readonly to: number
  /** The inbox that gets a share of the copies; the others share the rest. */
  readonly largest: string
  readonly share: number
  readonly others: readonly string[]
}

/** Tables that are filled, the parent first. */
const TABLES = ['threads', 'messages', 'message_bodies', 'searchable'] as const
const BATCH = 50_000
/** The time that all copies are spread over, whatever their number. */
const DAYS = 230

/** What a copy has of its own. All else is that of the message that it copies. */
const OWN: Readonly<Record<(typeof TABLES)[number], Readonly<Record<string, string>>>> = {
  threads: {
    ...inbox(),
    id: 'copy.thread_id',
    timestamp: 'copy.at',
    received_timestamp: 'copy.at',
    last_message_id: id(),
  },
  messages: {
    ...inbox(),
    id: 'copy.id',
    thread_id: 'copy.thread_id',
    message_id: id(),
    header_id: id(),
    digest: id(),
    timestamp: 'copy.at',
  },
  message_bodies: { id: 'copy.id' },
  searchable: {
    ...inbox(),
    id: 'copy.id',
    thread_id: 'copy.thread_id',
    timestamp: 'copy.at',
    // The last 16 bits count the periods, which are 1, 8, 64 and 512 days long.
    periods: `array(select (period & ~65535) | floor(extract(epoch from copy.at) / 86400 / 8 ^ (nth - 1))::int
                      from unnest(source.periods) with ordinality as of(period, nth))`,
  },
}

/**
 * Fills inboxes with copies of received messages, each in a thread of its own, spread over the last 230 days: as the
 * services would have stored them, and hundreds of times faster. Indexes are made afterwards.
 */
export async function copyMessages(options: CopyOptions): Promise<void> {
  const { endpoints, from, to } = options
  const client = new pg.Client({ connectionString: endpoints.databases['mail-ingest'] })
  await client.connect()
  try {
    // Without the checks of references, which hold.
    await client.query(
      `set synchronous_commit = off; set maintenance_work_mem = '512MB'; set session_replication_role = replica`,
    )
    const indexes = await dropIndexes(client)
    await client.query(
      'create temp table place as select * from json_to_recordset($1) as of(number int, uid uuid, address text)',
      [JSON.stringify(await placesOf(options))],
    )
    for (let first = from; first < to; first += BATCH) await copyBatch(client, options, first)
    for (const definition of indexes) await client.query(definition)
    for (const table of TABLES) await client.query(`vacuum analyze ${table}`)
  } finally {
    await client.end()
  }
}

async function copyBatch(client: pg.Client, options: CopyOptions, first: number): Promise<void> {
  const { pattern, to, share, others } = options
  await client.query('drop table if exists pattern, copy')
  await client.query(
    `create temp table pattern as
     select id, thread_id, row_number() over (order by id) - 1 as number from messages where inbox_address = '${pattern}'`,
  )
  await client.query(
    `create temp table copy as
     select gen_random_uuid() as id, gen_random_uuid() as thread_id, pattern.id as pattern, pattern.thread_id as pattern_thread,
            uid, address, now() - (nth * 104729 % 1000003) / 1000003.0 * interval '${DAYS} days' as at
       from generate_series(${first}::bigint, ${Math.min(to, first + BATCH) - 1}) as nth
       join pattern on pattern.number = (nth * 7919) % (select count(*) from pattern)
       join place on place.number = case when nth % 1000 < ${share * 1_000} then 0 else 1 + nth % ${others.length} end`,
  )
  for (const table of TABLES) {
    const { rows } = await client.query<{ name: string }>(
      'select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped',
      [table],
    )
    const columns = rows.map(({ name }) => name)
    const values = columns.map((name) => OWN[table][name] ?? `source."${name}"`)
    const source = table === 'threads' ? 'copy.pattern_thread' : 'copy.pattern'
    await client.query(
      `insert into ${table} (${columns.map((name) => `"${name}"`).join(', ')})
       select ${values.join(', ')} from copy join ${table} as source on source.id = ${source}`,
    )
  }
}

function inbox(): Readonly<Record<string, string>> {
  return { inbox_uid: 'copy.uid', inbox_address: 'copy.address' }
}

function id(): string {
  return `'<' || copy.id || '@copied.test>'`
}

async function placesOf({ endpoints, largest, others }: CopyOptions): Promise<object[]> {
  const client = new pg.Client({ connectionString: endpoints.databases.gateway })
  await client.connect()
  try {
    const { rows } = await client.query<{ uid: string; address: string }>(
      'select uid, address from inboxes where address = any($1)',
      [[largest, ...others]],
    )
    const numbers = new Map([largest, ...others].map((address, number) => [address, number]))
    return rows.map((row) => ({ ...row, number: numbers.get(row.address) }))
  } finally {
    await client.end()
  }
}

/** Drops the indexes that no constraint needs. @returns the statements that make them again. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
       from pg_index where indrelid = any($1::regclass[]) and not indisunique`,
    [TABLES],
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  return rows.map(({ definition }) => definition)
}
