import type { BlobStore } from '@restante/blobs'
import type { DkimKeys } from '@restante/mime'
import type { Config, SendKit } from '../config.ts'
import type { Delivery } from '../delivery/open-delivery.ts'
import { OperatorMail } from './operator-mail.ts'
import { systemMailRoutes } from './routes.ts'
import { SystemMail } from './system-mail.ts'

interface SystemMailParts {
  readonly dkim: DkimKeys | undefined
  readonly blobs: BlobStore
}

/** Sends mail of the installation itself. @returns the internal operations of that */
export function openSystemMail(
  { db }: SendKit,
  { defaultDomain: domain, systemSender: sender, operator }: Config,
  { installationMail: mails }: Delivery,
  { dkim, blobs }: SystemMailParts,
): ReturnType<typeof systemMailRoutes> {
  return systemMailRoutes({
    systemMail: new SystemMail({ db, mails, domain, sender, dkim }),
    operatorMail: new OperatorMail({ blobs, mails, operator, domain, sender, dkim }),
  })
}
