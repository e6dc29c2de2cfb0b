import { ApiError } from '@restante/service/errors'
import type { Handlers } from '@restante/service/http'

/** Gives way to the routes of checks as they are merged. */
export const pendingRoutes: Pick<Handlers<'domains-dns'>, 'domains.verify'> = {
  'domains.verify': async () => {
    throw new ApiError('service_unavailable')
  },
}
