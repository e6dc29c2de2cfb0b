import { type Queryable, sql } from '@restante/service/database'
import { APP_COLUMNS } from '../apps/store.ts'
import type { CatalogRow } from './document.ts'

/** The place in a walk through the catalog: in one order of popularity, and in what was listed since it was computed. */
export interface Place {
  readonly snapshotId: string
  /** Of the last app that had a rank; -1: none yet. */
  readonly position: number
  /** The last app without a rank; the lowest id: none yet. */
  readonly unranked: string
}

/** Sorts before every id; as a snapshot it ranks nothing. */
export const NO_ID = '00000000-0000-0000-0000-000000000000'

const LATEST = sql<{ id: string }>('select id from rank_snapshots order by created_at desc, id limit 1')

/** The beginning of the catalog in its present order. */
export async function firstPlace(on: Queryable): Promise<Place> {
  const [latest] = await on.query(LATEST)
  return { snapshotId: latest?.id ?? NO_ID, position: -1, unranked: NO_ID }
}

const EXISTS = sql<{ id: string }, [id: string]>('select id from rank_snapshots where id = $1')

/** Whether the order of a walk is still stored. */
export async function isStored(on: Queryable, { snapshotId }: Place): Promise<boolean> {
  return snapshotId === NO_ID || (await on.query(EXISTS, snapshotId)).length > 0
}

const MOST = 'coalesce(sign_up_limits.most, apps.owner_signup_limit) as most'
/** With the organization as `$1`. */
const FROM_APPS =
  'apps left join sign_up_limits on sign_up_limits.app_id = apps.id and sign_up_limits.organization_id = $1'
const LISTED = 'apps.listed and apps.removed_at is null'

/** An app of the catalog at its place. */
export interface PlacedRow extends CatalogRow {
  /** Null: it was listed since the order was computed. */
  readonly position: number | null
}

const RANKED = sql<
  PlacedRow,
  [organizationId: string, snapshotId: string, position: number, category: string | null, rows: number]
>(
  `select ${APP_COLUMNS}, ${MOST}, ranks.position from ranks join (${FROM_APPS}) on apps.id = ranks.app_id
    where ranks.snapshot_id = $2 and ranks.position > $3 and ${LISTED}
      and ($4::text is null or $4 = any(apps.categories))
    order by ranks.position limit $5`,
)
const UNRANKED = sql<
  PlacedRow,
  [organizationId: string, snapshotId: string, after: string, category: string | null, rows: number]
>(
  `select ${APP_COLUMNS}, ${MOST}, null::int as position from ${FROM_APPS}
    where apps.id > $3 and ${LISTED} and ($4::text is null or $4 = any(apps.categories))
      and not exists (select from ranks where ranks.snapshot_id = $2 and ranks.app_id = apps.id)
    order by apps.id limit $5`,
)

/** Apps of the catalog from a place on, the most popular first; those that have no rank yet come last. */
export async function listCatalog(
  on: Queryable,
  { organizationId, category = null }: { organizationId: string; category?: string | null | undefined },
  { snapshotId, position, unranked }: Place,
  rows: number,
): Promise<PlacedRow[]> {
  const ranked = await on.query(RANKED, organizationId, snapshotId, position, category, rows)
  if (ranked.length === rows) return ranked
  const rest = await on.query(UNRANKED, organizationId, snapshotId, unranked, category, rows - ranked.length)
  return [...ranked, ...rest]
}

const SEARCH = sql<CatalogRow, [organizationId: string, key: string, rows: number]>(
  `select ${APP_COLUMNS}, ${MOST} from ${FROM_APPS}
     left join ranks on ranks.app_id = apps.id
      and ranks.snapshot_id = (select id from rank_snapshots order by created_at desc, id limit 1)
    where ${LISTED}
      and (strpos(' ' || apps.name_key, ' ' || $2) > 0
        or starts_with(replace(apps.name_key, ' ', ''), replace($2, ' ', '')))
    order by replace(apps.name_key, ' ', '') = replace($2, ' ', '') desc, ranks.position nulls last, apps.id limit $3`,
)

/**
 * Apps of the catalog whose name begins with a text, or a word of it does: exact names first, then the most popular.
 * @param key the text as `nameKey` folds it, not empty.
 */
export function searchCatalog(on: Queryable, organizationId: string, key: string, rows: number): Promise<CatalogRow[]> {
  return on.query(SEARCH, organizationId, key, rows)
}

const LIMIT = sql<{ most: number }, [appId: string, organizationId: string]>(
  'select most from sign_up_limits where app_id = $1 and organization_id = $2',
)

/** The limit of one organization at an app; undefined where it has none of its own. */
export async function limitOf(on: Queryable, appId: string, organizationId: string): Promise<number | undefined> {
  const [row] = await on.query(LIMIT, appId, organizationId)
  return row?.most
}
