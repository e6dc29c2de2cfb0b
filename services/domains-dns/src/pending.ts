import { ApiError } from '@restante/service/errors'
import type { Handlers } from '@restante/service/http'

/** Gives way to the routes of checks and of setup links as they are merged. */
export const pendingRoutes: Pick<Handlers<'domains-dns'>, 'domains.verify' | 'domains.getSetupLink'> = {
  'domains.verify': async () => {
    throw new ApiError('service_unavailable')
  },
  'domains.getSetupLink': async () => {
    throw new ApiError('service_unavailable')
  },
}
