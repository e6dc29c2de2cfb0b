import type { Queryable } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import { resolveApp } from '../apps/resolve.ts'
import type { AppRow } from '../apps/store.ts'

/**
 * The app of a path that a sign-in can begin at: one that has told where its sign-in begins and returns to (apps 2, rows
 * 2 and 3).
 * @throws ApiError 400 for a text that names nothing; 404
 */
export async function findConnectable(on: Queryable, named: string): Promise<AppRow> {
  const row = await resolveApp(on, named)
  if (row === undefined || row.initiate_login_uri === null || row.redirect_uris.length === 0) throw notFound('App')
  return row
}
