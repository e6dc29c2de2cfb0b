import type { z } from 'zod'
import { labelFilter } from '../../schemas/labels.ts'
import {
  FILTERED_LIMIT_MESSAGE,
  mailSearchText,
  pageToken,
  queryBoolean,
  queryDateTime,
  queryInteger,
  searchPageQuery,
} from '../../schemas/query.ts'
import { LIMITS } from '../../vocabulary/limits.ts'

/** Query that message and thread lists share (mail 1, 4.4, 6.1). */
export const mailListQuery = {
  limit: queryInteger({ min: 1, max: LIMITS.page.maxMail }).optional(),
  page_token: pageToken.optional(),
  ascending: queryBoolean.optional(),
  before: queryDateTime.optional(),
  after: queryDateTime.optional(),
  labels: labelFilter.optional(),
  include_spam: queryBoolean.optional(),
  include_blocked: queryBoolean.optional(),
  include_unauthenticated: queryBoolean.optional(),
  include_trash: queryBoolean.optional(),
}

/** Query that searches in messages and in threads share (mail 6.2, 10). */
export const mailSearchQuery = {
  q: mailSearchText,
  ...searchPageQuery,
  before: queryDateTime.optional(),
  after: queryDateTime.optional(),
}

/** A list with a content filter rejects a `limit` above the maximum; a list without one reduces it (mail 1). */
export function capWhenFiltered<Query extends { limit?: number | undefined }>(
  query: Query,
  filters: readonly (keyof Query)[],
  context: z.RefinementCtx,
): void {
  if (query.limit === undefined || query.limit <= LIMITS.page.max) return
  if (filters.every((name) => query[name] === undefined)) return
  context.addIssue({ code: 'custom', path: ['limit'], message: FILTERED_LIMIT_MESSAGE })
}
