import type { InternalHandlers } from '@restante/service/http'
import type { Unsubscribing } from './unsubscribing.ts'

/** The page behind the links to unsubscribe, which the gateway serves. */
export function unsubscribeRoutes(
  unsubscribing: Unsubscribing,
): Pick<InternalHandlers<'mail-send'>, 'mail-send.findUnsubscribe' | 'mail-send.unsubscribe'> {
  return {
    'mail-send.findUnsubscribe': async ({ body }) => {
      const unsubscribe = await unsubscribing.find(body.token)
      return unsubscribe ? { unsubscribe } : {}
    },
    'mail-send.unsubscribe': async ({ body }) => {
      const unsubscribe = await unsubscribing.confirm(body.token)
      return unsubscribe ? { unsubscribe } : {}
    },
  }
}
