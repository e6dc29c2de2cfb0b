import { type Queryable, sql, type Tx } from '@restante/service/database'

const SET = sql<never, [appId: string, organizationId: string, most: number]>(
  `insert into sign_up_limits (app_id, organization_id, most) values ($1, $2, $3)
   on conflict (app_id, organization_id) do update set most = excluded.most`,
)
const CLEAR = sql<never, [appId: string, organizationId: string]>(
  'delete from sign_up_limits where app_id = $1 and organization_id = $2',
)

/** Sets the most accounts of one organization at an app. @param most null: as many as the app's own limit says. */
export async function setSignUpLimit(
  tx: Tx,
  appId: string,
  organizationId: string,
  most: number | null,
): Promise<void> {
  await (most === null ? tx.query(CLEAR, appId, organizationId) : tx.query(SET, appId, organizationId, most))
}

/** The limit of one organization at an app, and how many of its inboxes have signed up. */
export interface UsedLimit {
  readonly organization_id: string
  readonly limit: number
  readonly used: number
}

const LIST = sql<UsedLimit, [appId: string, after: string | null, rows: number]>(
  `select organization_id, most as "limit",
     (select count(*)::int from sign_ups
       where sign_ups.app_id = $1 and sign_ups.organization_id = sign_up_limits.organization_id) as used
   from sign_up_limits where app_id = $1 and ($2::uuid is null or organization_id > $2)
   order by organization_id limit $3`,
)

/** A page of the limits of single organizations. */
export function listSignUpLimits(
  on: Queryable,
  appId: string,
  after: string | undefined,
  rows: number,
): Promise<UsedLimit[]> {
  return on.query(LIST, appId, after ?? null, rows)
}
