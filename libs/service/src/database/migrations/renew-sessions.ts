import { setTimeout as sleep } from 'node:timers/promises'
import { SERVICES } from '@restante/contracts/vocabulary'
import type pg from 'pg'

/** How long a session may take to become idle and end, in milliseconds. Later its statements fail once, and are repeated. */
const PATIENCE_MS = 10_000
const AGAIN_MS = 50

/** Sessions of services, not those of programs and people. */
const EARLIER = `from pg_stat_activity as session
 where datname = current_database() and usename = current_user and application_name = any($1)
   and backend_start < (select max(finished_at) from _prisma_migrations)`
/** Those that hold an advisory lock, or listen, prepare no statements. */
const ENDS = `state = 'idle' and query !~* '^listen'
   and not exists (select from pg_locks where pg_locks.pid = session.pid and locktype = 'advisory')`
/** All are told at once: one by one, the later ones would no longer be idle. */
const END_IDLE = `select pg_terminate_backend(pid) ${EARLIER} and ${ENDS}`
/** Until a session that is told to end is gone, a service can still use it. */
const COUNT_LEFT = `select count(*)::int as count ${EARLIER} and (state <> 'idle' or (${ENDS}))`

/**
 * Ends the sessions of running services that began before the latest migration was applied, each when it is idle: PostgreSQL
 * refuses their prepared statements where a migration has changed the columns. Services open new ones when they need them.
 */
export async function renewSessions(client: pg.Client): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    await client.query(END_IDLE, [SERVICES])
    const left = await client.query<{ count: number }>(COUNT_LEFT, [SERVICES])
    if ((left.rows[0]?.count ?? 0) === 0 || performance.now() > deadline) return
    await sleep(AGAIN_MS)
  }
}
