import { isUuid } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { invalid } from '@restante/service/errors'
import { slugKey } from './slugs.ts'
import { type AppRow, findById, findBySlug } from './store.ts'

/**
 * The app that a path names (apps 1.1): any registered one by its id, those of the catalog also by their slug, however
 * it is written.
 * @throws ApiError 400 at `app_id` when nothing is left of the name to compare.
 */
export async function resolveApp(on: Queryable, named: string): Promise<AppRow | undefined> {
  if (isUuid(named)) return findById(on, named)
  const key = slugKey(named)
  if (key === '') throw invalid(['app_id'], 'Must be an app id, or the slug of an app of the catalog')
  return findBySlug(on, key)
}

/** The id that a path names, whether or not there is such an app; undefined: it names a slug. */
export function namedAppId(named: string): string | undefined {
  return isUuid(named) ? named.toLowerCase() : undefined
}
