import type { DkimKeys } from '@restante/mime'
import type { Config, SendKit } from '../config.ts'
import type { Delivery } from '../delivery/open-delivery.ts'
import { systemMailRoutes } from './routes.ts'
import { SystemMail } from './system-mail.ts'

/** Sends mail of the installation itself. @returns the internal operations of that */
export function openSystemMail(
  { db }: SendKit,
  { defaultDomain: domain, systemSender: sender }: Config,
  { content, outboundQueue }: Delivery,
  dkim: DkimKeys | undefined,
): ReturnType<typeof systemMailRoutes> {
  return systemMailRoutes(new SystemMail({ db, content, outboundQueue, domain, sender, dkim }))
}
