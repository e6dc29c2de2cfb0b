import type { InternalHandlers } from '@restante/service/http'
import type { SendKit } from '../config.ts'
import type { SendingDomains } from '../domains/sending-domains.ts'
import type { Sending } from '../sending/open-sending.ts'
import { Charges } from './charges.ts'
import { InvitationMail } from './invitation-mail.ts'

type InvitationOperation = 'mail-send.chargeInvitations' | 'mail-send.sendInvitation'

/** Counts and sends the mails of calendars. @returns the internal operations of that */
export function openInvitations(
  kit: SendKit,
  { acceptance, quotas, domains }: Pick<Sending, 'acceptance' | 'quotas'> & { readonly domains: SendingDomains },
): Pick<InternalHandlers<'mail-send'>, InvitationOperation> {
  const { db, log } = kit
  const charges = new Charges({ db, quotas })
  const mail = new InvitationMail({
    db,
    log,
    acceptance,
    quotas,
    domains,
    gateway: kit.peer('gateway'),
    mailIngest: kit.peer('mail-ingest'),
  })
  return {
    'mail-send.chargeInvitations': ({ body }) => charges.charge(body),
    'mail-send.sendInvitation': ({ body }) => mail.send(body),
  }
}
