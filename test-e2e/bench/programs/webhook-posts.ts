/**
 * Posts a document again and again over persistent connections: what a delivery costs at the least. With a database, each has a
 * row that is stored before it and gets its outcome after it, many in a statement: what a durable one costs at the least.
 */
import pg from 'pg'
import { Pool } from 'undici'
import { z } from 'zod'
import { inputOf, reportToParent, startClock } from './parent.ts'

/** Rows in one statement. */
const TOGETHER = 100
/** Batches at once: while some are stored, others are sent. */
const BATCHES = 4

const { url, body, connections, requests, database } = inputOf(
  z.object({
    url: z.url(),
    body: z.string(),
    connections: z.int(),
    requests: z.int(),
    database: z.url().optional(),
  }),
)
const { origin, pathname } = new URL(url)
const pool = new Pool(origin, { connections })
const headers = { 'content-type': 'application/json' }

async function post(): Promise<number> {
  const { statusCode, body: answer } = await pool.request({ method: 'POST', path: pathname, headers, body })
  await answer.dump()
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`)
  return statusCode
}

/** Does something `count` times, in `loops` loops. */
async function repeat(count: number, loops: number, work: () => Promise<unknown>): Promise<void> {
  let next = 0
  async function loop(): Promise<void> {
    while (next++ < count) await work()
  }
  await Promise.all(Array.from({ length: loops }, loop))
}

async function postWithRows(rows: pg.Pool): Promise<void> {
  const stored = await rows.query<{ id: string }>({
    name: 'store',
    text: 'insert into posted (body) select $1 from generate_series(1, $2) returning id',
    values: [body, TOGETHER],
  })
  const ids = stored.rows.map(({ id }) => id)
  const outcomes = await Promise.all(ids.map(post))
  await rows.query({
    name: 'settle',
    text: `update posted set outcome = given.outcome, settled_at = now()
             from unnest($1::bigint[], $2::int[]) as given(id, outcome) where posted.id = given.id`,
    values: [ids, outcomes],
  })
}

async function run(count: number, rows: pg.Pool | undefined): Promise<void> {
  if (rows) await repeat(count / TOGETHER, BATCHES, () => postWithRows(rows))
  else await repeat(count, connections, post)
}

async function openRows(connectionString: string): Promise<pg.Pool> {
  const rows = new pg.Pool({ connectionString, max: BATCHES })
  await rows.query(
    'create table posted (id bigint generated always as identity primary key, body text, outcome int, settled_at timestamptz)',
  )
  return rows
}

const rows = database === undefined ? undefined : await openRows(database)
await run(requests / 4, rows)
const clock = startClock()
await run(requests, rows)
reportToParent(clock())
await rows?.query('drop table posted')
await Promise.all([pool.close(), rows?.end()])
