import type { InternalHandlers } from '@restante/service/http'
import type { SystemMail } from './system-mail.ts'

/** Mail of the installation itself, requested by the gateway. */
export function systemMailRoutes(
  systemMail: SystemMail,
): Pick<InternalHandlers<'mail-send'>, 'mail-send.sendSystemMail' | 'mail-send.hasSystemMailFailed'> {
  return {
    'mail-send.sendSystemMail': async ({ body }) => {
      await systemMail.send(body)
      return {}
    },
    'mail-send.hasSystemMailFailed': async ({ body }) => ({ failed: await systemMail.hasFailed(body.id) }),
  }
}
