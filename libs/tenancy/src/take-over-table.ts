import type { Caller } from '@restante/contracts/access'
import { type Statement, sql, type Tx } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'

const LOCK_FOR_CHANGES = sql<unknown, [organizationId: string]>(
  `select pg_advisory_xact_lock_shared(hashtextextended('take-over of ' || $1, 0))`,
)
// In a fixed order, so that two transactions cannot deadlock.
const LOCK_ALL_FOR_CHANGES = sql<unknown, [organizationIds: readonly string[]]>(`
select pg_advisory_xact_lock_shared(key)
  from (select distinct hashtextextended('take-over of ' || id, 0) as key
          from unnest($1::text[]) as organization(id) order by key) as keys`)
const LOCK_FOR_TAKE_OVER = sql<unknown, [organizationId: string]>(
  `select pg_advisory_xact_lock(hashtextextended('take-over of ' || $1, 0))`,
)

interface TakeOver {
  readonly organization_id: string
  readonly take_overs: number
}

/**
 * The table `take_overs` of a service: the confirmed take-overs of organizations, by which requests with earlier keys are
 * refused that were admitted before. A service that has the table makes one of these.
 */
export class TakeOverTable {
  /** Rows that no request admitted before can need: a condition on the table. */
  readonly isOld = "heard_at < now() - interval '1 day'"
  readonly #mark: Statement<unknown, [organizationId: string, takeOvers: number]> = sql(
    `insert into take_overs (organization_id, take_overs) values ($1, $2)
     on conflict (organization_id) do update
        set take_overs = greatest(take_overs.take_overs, excluded.take_overs), heard_at = excluded.heard_at`,
  )
  readonly #superseded: Statement<{ take_overs: number }, [organizationId: string, takeOvers: number]> = sql(
    'select take_overs from take_overs where organization_id = $1 and take_overs > $2',
  )

  readonly #ofAll: Statement<TakeOver, [organizationIds: readonly string[]]> = sql(
    'select organization_id, take_overs from take_overs where organization_id = any($1::uuid[])',
  )

  /** Records a confirmed take-over of an organization, when changes of what it ends that are in progress have ended. */
  async record(tx: Tx, organizationId: string, takeOvers: number): Promise<void> {
    await tx.query(LOCK_FOR_TAKE_OVER, organizationId)
    await tx.query(this.#mark, organizationId, takeOvers)
  }

  /**
   * Keys from before a take-over that was confirmed since the gateway admitted the request change nothing (identity 5.1).
   * None is confirmed until the transaction ends. @throws ApiError 401
   */
  async requireCurrent(
    tx: Tx,
    { organization_id, take_overs = 0 }: Pick<Caller, 'organization_id' | 'take_overs'>,
  ): Promise<void> {
    await tx.query(LOCK_FOR_CHANGES, organization_id)
    if ((await tx.query(this.#superseded, organization_id, take_overs)).length > 0)
      throw new ApiError('unknown_api_key')
  }

  /**
   * The numbers of the last confirmed take-overs of organizations, for changes that are made whatever has happened since
   * they were asked for. None is confirmed until the transaction ends.
   * @returns the number by organization, without those that had none.
   */
  async confirmed(tx: Tx, organizationIds: readonly string[]): Promise<Map<string, number>> {
    if (organizationIds.length === 0) return new Map()
    await tx.query(LOCK_ALL_FOR_CHANGES, organizationIds)
    const rows = await tx.query(this.#ofAll, organizationIds)
    return new Map(rows.map(({ organization_id, take_overs }) => [organization_id, take_overs]))
  }
}
