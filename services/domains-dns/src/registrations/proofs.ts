import { LIMITS } from '@restante/contracts/vocabulary'
import { type Database, type Queryable, sql, type Tx } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { namesFrom } from '../names/registrable.ts'
import type { DomainRow } from './store.ts'

const KEPT = `interval '${LIMITS.domain.proof / 1_000} seconds'`

const IS_COVERED = sql<{ covered: boolean }, [organizationId: string, names: readonly string[]]>(
  `select exists (select from domains where name = any($2::text[]) and organization_id <> $1
                    and status = 'VERIFIED' and subdomains_enabled) as covered`,
)

/** Whether another organization is verified on a name above one, with all its subdomains (domains 2.1, rule 4). */
export async function isCoveredElsewhere(on: Queryable, organizationId: string, name: string): Promise<boolean> {
  const [row] = await on.query(IS_COVERED, organizationId, namesFrom(name).slice(1))
  return row?.covered ?? false
}

const REMEMBER = sql<never, [name: string, organizationId: string, lastVerifiedAt: string]>(
  `insert into former_proofs (name, organization_id, last_verified_at)
   select $1::text, $2::uuid, $3::timestamptz where $3::timestamptz > now() - ${KEPT}
   on conflict (name, organization_id) do update
     set last_verified_at = greatest(former_proofs.last_verified_at, excluded.last_verified_at)`,
)

/** Keeps the name of a registration that is deleted from other organizations, if it was verified lately. */
export async function rememberProof(tx: Tx, row: DomainRow, now: Date): Promise<void> {
  // A registration is proven for as long as it is verified, whenever it was found so last.
  const provenAt = row.status === 'VERIFIED' ? now : row.last_verified_at
  if (provenAt !== null) await tx.query(REMEMBER, row.name, row.organization_id, provenAt.toISOString())
}

const EVERY_MS = 3_600_000
const BATCH = 1_000
const FORGET = sql<{ name: string }, [rows: number]>(
  `delete from former_proofs where (name, organization_id) in (
     select name, organization_id from former_proofs where last_verified_at < now() - ${KEPT} limit $1)
   returning name`,
)

/** Deletes proofs that are too old to keep a name from anybody. */
export class ProofSweeper extends Periodic {
  constructor({ db, log }: { readonly db: Database; readonly log: Logger }) {
    super({ name: 'former proof sweeper', everyMs: EVERY_MS, log, work: (stopping) => sweepProofs(db, stopping) })
  }
}

/** Deletes them in batches, until none is left or the process stops. */
export async function sweepProofs(on: Queryable, stopping: AbortSignal): Promise<void> {
  while ((await on.query(FORGET, BATCH)).length === BATCH && !stopping.aborted);
}
