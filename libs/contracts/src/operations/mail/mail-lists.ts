import { labelFilter } from '../../schemas/labels.ts'
import {
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
