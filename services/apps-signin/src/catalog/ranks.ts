import { randomUUID } from 'node:crypto'
import { type Database, sql, type Tx } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'

/** How often replicas look whether an order is due; the order itself is computed hourly. */
const EVERY_MS = 5 * 60_000

// The lease is the lock together with the time of the latest order: of two replicas that find one due, the second finds
// that of the first.
const LEASE = sql<{ leased: boolean }>(
  `select pg_try_advisory_xact_lock(hashtextextended('ranks of apps', 0)) as leased`,
)
const DUE = sql<{ due: boolean }>(
  `select not exists (select from rank_snapshots where created_at > now() - interval '1 hour') as due`,
)
const SNAPSHOT = sql<never, [id: string]>('insert into rank_snapshots (id) values ($1)')
const RANK = sql<never, [snapshotId: string]>(
  `insert into ranks (snapshot_id, position, app_id, accounts)
   select $1, row_number() over (order by count(accounts.id) desc, apps.id) - 1, apps.id, count(accounts.id)
     from apps left join accounts on accounts.app_id = apps.id
    where apps.kind = 'registered' and apps.removed_at is null
    group by apps.id`,
)
// Lists that began in an order keep it for a day.
const FORGET = sql<never>(
  `delete from rank_snapshots
    where created_at < now() - interval '1 day'
      and id <> (select id from rank_snapshots order by created_at desc, id limit 1)`,
)

/**
 * Computes the order of the catalog when the latest is an hour old: by the number of accounts, ties by id (apps 1). Apps
 * outside the catalog have a rank too, which they keep when they are listed.
 * @returns whether it did.
 */
export function rankApps(db: Database): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [lease] = await tx.query(LEASE)
    if (!lease?.leased) return false
    const [found] = await tx.query(DUE)
    if (!found?.due) return false
    await storeRanks(tx)
    return true
  })
}

async function storeRanks(tx: Tx): Promise<void> {
  const id = randomUUID()
  await tx.query(SNAPSHOT, id)
  await tx.query(RANK, id)
  await tx.query(FORGET)
}

/** Keeps the order of the catalog at most an hour and a few minutes old, in however many replicas. */
export class Ranking extends Periodic {
  constructor({ db, log }: { readonly db: Database; readonly log: Logger }) {
    super({ name: 'ranking of apps', everyMs: EVERY_MS, log, work: () => rankApps(db) })
  }

  override async start(): Promise<void> {
    await super.start()
    this.notify()
  }
}
