import { isUuid } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { invalid, notFound } from '@restante/service/errors'
import { slugKey } from '../apps/slugs.ts'
import { type AppRow, findById, findBySlug } from '../apps/store.ts'

/**
 * The app of a path that a sign-in can begin at: one that has told where its sign-in begins and returns to (apps 2, rows
 * 2 and 3).
 * @throws ApiError 400 for a text that names nothing; 404
 */
export async function findConnectable(on: Queryable, given: string): Promise<AppRow> {
  const key = slugKey(given)
  if (key === '') throw invalid(['app_id'], 'Must be the id or the slug of an app')
  const row = isUuid(given) ? await findById(on, given) : await findBySlug(on, key)
  if (row === undefined || row.initiate_login_uri === null || row.redirect_uris.length === 0) throw notFound('App')
  return row
}
