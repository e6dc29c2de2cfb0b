import { isUuid, LIMITS } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { invalid } from '@restante/service/errors'
import type { Cursors } from '@restante/service/http'
import type { CatalogRow } from './document.ts'
import { firstPlace, isStored, listCatalog, type Place } from './store.ts'

export interface ListOptions {
  readonly db: Queryable
  readonly cursors: Cursors
}

interface CatalogQuery {
  readonly category?: string | undefined
  readonly limit?: number | undefined
  readonly page_token?: string | undefined
}

/** A page of the catalog. A token goes on in the order in which its list began, with the same category (apps 1). */
export async function listApps(
  { db, cursors }: ListOptions,
  organizationId: string,
  { category, limit: asked = LIMITS.page.default, page_token: token }: CatalogQuery,
): Promise<{ apps: CatalogRow[]; members: { count: number; limit: number; next_page_token?: string } }> {
  const limit = Math.min(asked, LIMITS.page.max)
  const context = ['apps.list', category ?? null]
  const from = token === undefined ? await firstPlace(db) : placeOf(cursors.open(context, token))
  if (from === undefined || !(await isStored(db, from))) {
    throw invalid(['page_token'], 'The page token is too old. Omit it to start again from the first page.')
  }
  const rows = await listCatalog(db, { organizationId, category }, from, limit + 1)
  const apps = rows.slice(0, limit)
  const members = { count: apps.length, limit }
  if (rows.length <= limit) return { apps, members }
  const position = apps.findLast((row) => row.position !== null)?.position ?? from.position
  const unranked = apps.findLast((row) => row.position === null)?.id ?? from.unranked
  const next = cursors.seal(context, [from.snapshotId, position, unranked])
  return { apps, members: { ...members, next_page_token: next } }
}

function placeOf([snapshotId, position, unranked]: readonly (string | number)[]): Place | undefined {
  if (typeof snapshotId !== 'string' || typeof position !== 'number' || typeof unranked !== 'string') return undefined
  return isUuid(snapshotId) ? { snapshotId, position, unranked } : undefined
}
