import type { InternalHandlers } from '@restante/service/http'
import type { Opens } from './opens.ts'

/** The image that tells of the opening of a message, which the gateway serves. */
export function openRoutes(opens: Opens): Pick<InternalHandlers<'mail-send'>, 'mail-send.recordOpen'> {
  return {
    'mail-send.recordOpen': async ({ body }) => {
      await opens.record(body.token)
      return {}
    },
  }
}
