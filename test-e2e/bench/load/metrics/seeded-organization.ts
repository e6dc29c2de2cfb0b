import pg from 'pg'

/** Numbers of series in the database of metrics, and how many of a million events are theirs. */
const SHARES = {
  1: 350_000,
  2: 40_000,
  3: 10_000,
  4: 30_000,
  5: 250_000,
  6: 300_000,
  7: 17_000,
  8: 500,
  9: 2_450,
  10: 50,
}
const INBOXES = 100
const DAYS = 90
/** Most points of a settled row: of events, and of what also has sums. */
const [EVENTS, OTHERS] = [1_900, 640]
const DAY_MS = 86_400_000

/** The organization that has everything. Its default pod has the same id. */
export const ORGANIZATION = '5eed0000-0000-4000-8000-000000000000'

/**
 * Fills the database of metrics with the events of an organization over 90 days, as the service would have settled them, and a
 * plain table of the same events, `plain_events`, with the index that one would give it.
 */
export async function seedOrganization(url: string, events: number, say: (text: string) => void): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`set synchronous_commit = off; set work_mem = '256MB'; set maintenance_work_mem = '256MB'`)
    say('seeding: a plain table ...')
    await client.query(plainTable(events))
    await client.query('create index on plain_events (organization_id, type, at)')
    await client.query('vacuum analyze plain_events')
    say('seeding: settled runs ...')
    await createPartitions(client)
    for (const statement of settled()) await client.query(statement)
    say('seeding: fresh arrivals ...')
    await client.query(ARRIVALS)
    await client.query('vacuum analyze')
    // Otherwise PostgreSQL writes these gigabytes to disk while questions are measured.
    await client.query('checkpoint')
  } finally {
    await client.end()
  }
}

function plainTable(events: number): string {
  let below = 0
  const cases = Object.entries(SHARES).map(([type, share]) => {
    below += share
    return `when draw < ${below} then ${type}`
  })
  return `
create unlogged table plain_events as
select '${ORGANIZATION}'::uuid as organization_id, n % ${INBOXES} as inbox,
       (case ${cases.join(' ')} else 1 end)::smallint as type,
       date_trunc('milliseconds', now() - (n + random()) / ${events}.0 * interval '${DAYS} days') as at
  from (select n, random() * 1000000 as draw from generate_series(0, ${events - 1}) as n) as drawn`
}

async function createPartitions(client: pg.Client): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS)
  for (let first = today - (today % 30) - 90; first <= today; first += 30) {
    await client.query(
      `create table if not exists runs_from_${first} partition of runs for values from (${first}) to (${first + 30})`,
    )
  }
}

const TIMED = `(extract(epoch from at) * 1000)::bigint as ms from plain_events`
const NUMBERED = `row_number() over (partition by scope_id, series, ms / ${DAY_MS} order by ms) - 1`

/** Runs of points that are given as scope, series, time and value. */
function runsOf(tier: number, points: string, size: number): string {
  const sums = size === EVENTS ? `'{}'::bigint[]` : `array_agg(running order by ms, n)`
  return `
insert into runs (scope_id, tier, series, day, first_ms, last_ms, times, sums, before)
select scope_id, ${tier}, series, day, min(ms), max(ms), array_agg(ms order by ms, n), ${sums}, min(total - running)
  from (select *, sum(value) over (partition by scope_id, series, day, n / ${size} order by n)::bigint as running,
               sum(value) over (partition by scope_id, series, day order by n)::bigint as total
          from (select scope_id, series, ms / ${DAY_MS} as day, (ms % ${DAY_MS})::int as ms, value, ${NUMBERED} as n
                  from (${points}) as given) as numbered) as summed
 group by scope_id, series, day, n / ${size}`
}

function settled(): string[] {
  const organization = `'${ORGANIZATION}'::uuid as scope_id`
  const stored = `where type in (1, 2, 3, 4, 5)`
  // One message in twenty is deleted, and so has the opposite sign.
  const sign = `case when (extract(epoch from at) * 1000)::bigint % 20 = 0 then -1 else 1 end`
  const others = [
    `select ${organization}, 21 as series, (${sign} * (2000 + inbox * 300))::bigint as value, ${TIMED} ${stored}`,
    `select ${organization}, 22 as series, (${sign})::bigint as value, ${TIMED} ${stored}`,
    `select ${organization}, 23 as series, (${sign})::bigint as value, ${TIMED} ${stored} and inbox % 2 = 0`,
    `select ${organization}, 41 as series, (1 + inbox % 2)::bigint as value, ${TIMED} where type = 5`,
    `select ${organization}, 42 as series, 1::bigint as value, ${TIMED} where type = 7`,
    `select ${organization}, 43 as series, 1::bigint as value, ${TIMED} where type = 8`,
  ]
  return [
    runsOf(1, `select ${organization}, type as series, 1 as value, ${TIMED}`, EVENTS),
    runsOf(3, `select md5(inbox::text)::uuid as scope_id, type as series, 1 as value, ${TIMED}`, EVENTS),
    ...others.map((points) => runsOf(1, points, OTHERS)),
    `insert into runs (scope_id, tier, series, day, first_ms, last_ms, times, sums, before)
     select scope_id, 2, series, day, first_ms, last_ms, times, sums, before from runs where tier = 1`,
    `insert into totals (scope_id, tier, series, day, total)
     select scope_id, tier, series, day, sum(sums[cardinality(sums)]) from runs where series in (21, 22, 23)
      group by scope_id, tier, series, day`,
  ]
}

/** As many rows of each series as wait at most before they are settled. */
const ARRIVALS = `
insert into arrivals (scope_id, tier, series, day, first_ms, last_ms, times, sums)
select '${ORGANIZATION}', 1, series, ms / ${DAY_MS}, ms % ${DAY_MS}, ms % ${DAY_MS}, array[(ms % ${DAY_MS})::int], '{}'
  from (select series, (extract(epoch from now()) * 1000)::bigint - 60000 - n as ms
          from unnest(array[1, 2, 3, 4, 5, 6, 7, 21, 22, 23, 41]) as series cross join generate_series(1, 15) as n) as fresh`
