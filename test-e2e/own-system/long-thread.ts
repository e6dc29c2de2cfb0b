import pg from 'pg'
import type { Endpoints } from '../stack/endpoints.ts'

/** Tables with a row for each message, the parent first. */
const TABLES = ['messages', 'message_bodies', 'searchable'] as const
/** What a copy has of its own. All else is that of the message that it copies. */
const OWN: Readonly<Record<string, string>> = {
  id: 'copy.id',
  message_id: `'<' || copy.id || '@copied.test>'`,
  header_id: `'<' || copy.id || '@copied.test>'`,
  digest: 'copy.id::text',
  timestamp: 'copy.at',
}

/**
 * Adds copies of the only message of a thread to that thread, as the service would have stored them, and hundreds of times
 * faster. They refer to the bytes of the original.
 */
export async function lengthenThread(endpoints: Endpoints, threadId: string, copies: number): Promise<void> {
  const client = new pg.Client({ connectionString: endpoints.databases['mail-ingest'] })
  await client.connect()
  try {
    await client.query('begin')
    await client.query(
      `create temp table copy on commit drop as
       select gen_random_uuid() as id, messages.id as pattern, "timestamp" + number * interval '1 ms' as at
         from messages, generate_series(1, $2::int) as number where thread_id = $1::uuid`,
      [threadId, copies],
    )
    for (const table of TABLES) await copyInto(client, table)
    await client.query(
      `update raw_mails set refs = refs + $2 where blob = (select blob from messages where thread_id = $1 limit 1)`,
      [threadId, copies],
    )
    await client.query(
      `update threads set (message_count, size, "timestamp", received_timestamp, last_message_id) =
         (select count(*), sum(size), max("timestamp"), max("timestamp"), (array_agg(message_id order by "timestamp" desc))[1]
            from messages where thread_id = $1) where id = $1`,
      [threadId],
    )
    await client.query('commit')
    for (const table of TABLES) await client.query(`vacuum analyze ${table}`)
  } finally {
    await client.end()
  }
}

/** What is left of a thread in the tables of messages and threads. */
export async function rowsOfThread(endpoints: Endpoints, threadId: string): Promise<number> {
  const client = new pg.Client({ connectionString: endpoints.databases['mail-ingest'] })
  await client.connect()
  try {
    const { rows } = await client.query<{ count: number }>(
      `select ((select count(*) from messages where thread_id = $1) + (select count(*) from threads where id = $1))::int as count`,
      [threadId],
    )
    return rows[0]?.count ?? 0
  } finally {
    await client.end()
  }
}

async function copyInto(client: pg.Client, table: (typeof TABLES)[number]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped',
    [table],
  )
  const columns = rows.map(({ name }) => name)
  const values = columns.map((name) => OWN[name] ?? `source."${name}"`)
  await client.query(
    `insert into ${table} (${columns.map((name) => `"${name}"`).join(', ')})
     select ${values.join(', ')} from copy join ${table} as source on source.id = copy.pattern`,
  )
}
