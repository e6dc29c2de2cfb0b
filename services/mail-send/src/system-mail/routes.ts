import type { InternalHandlers } from '@restante/service/http'
import type { OperatorMail } from './operator-mail.ts'
import type { SystemMail } from './system-mail.ts'

type SystemMailOperation = 'mail-send.sendSystemMail' | 'mail-send.hasSystemMailFailed' | 'mail-send.forwardToOperator'

/** Mail of the installation itself, requested by the gateway, and mail to its operator, received by mail-ingest. */
export function systemMailRoutes({
  systemMail,
  operatorMail,
}: {
  readonly systemMail: SystemMail
  readonly operatorMail: OperatorMail
}): Pick<InternalHandlers<'mail-send'>, SystemMailOperation> {
  return {
    'mail-send.sendSystemMail': async ({ body }) => {
      await systemMail.send(body)
      return {}
    },
    'mail-send.hasSystemMailFailed': async ({ body }) => ({ failed: await systemMail.hasFailed(body.id) }),
    'mail-send.forwardToOperator': async ({ body }) => {
      await operatorMail.forward(body)
      return {}
    },
  }
}
