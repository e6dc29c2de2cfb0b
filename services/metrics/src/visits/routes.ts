import type { Queryable } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { countVisit } from './store.ts'

export function visitRoutes(db: Queryable): Pick<InternalHandlers<'metrics'>, 'metrics.countVisit'> {
  return {
    'metrics.countVisit': async ({ body }) => ({ visits: await countVisit(db, body.visitor) }),
  }
}
