import { Timers } from '@restante/jobs'
import { mailCodes } from './agents/code-mail.ts'
import type { Config, GatewayKit } from './config.ts'
import type { Secrets } from './credentials/secrets.ts'
import { awaitPurges } from './inboxes/purge.ts'
import { deleteOrganizations } from './organizations/deletion.ts'
import { deleteInactive } from './organizations/inactivity.ts'
import { purgeBacklog } from './organizations/purge-backlog.ts'
import { type RecurringJobKind, RecurringJobs } from './recurring-jobs.ts'
import { sweepHourly } from './sweep.ts'
import type { TenancyEvents } from './tenancy/events.ts'
import type { GatewayTimerKinds, GatewayTimers } from './timers.ts'

/** The gateway's timers, with the handler of each kind. */
export function openTimers(
  kit: GatewayKit,
  config: Config,
  { secrets, events }: { readonly secrets: Secrets; readonly events: TenancyEvents },
): GatewayTimers {
  const { db, log } = kit
  const { redis, auditMs, inactiveMs, retiredAddressMs } = config
  const timers = kit.use(new Timers<GatewayTimerKinds>({ db, redis, log }))
  mailCodes(timers, { db, secrets, mailSend: kit.peer('mail-send') })
  awaitPurges(timers, { db, log, peer: (service) => kit.peer(service) })
  sweepHourly(timers, { db, events, auditMs })
  deleteOrganizations(timers, { db, events, timers, retiredAddressMs })
  const kinds: RecurringJobKind[] = ['sweep']
  if (inactiveMs !== undefined) {
    deleteInactive(timers, { db, events, timers, log, mailIngest: kit.peer('mail-ingest'), inactiveMs })
    kinds.push('inactive-organizations')
  }
  kit.use(purgeBacklog(db, log))
  kit.use(new RecurringJobs({ timers, db, log, kinds }))
  return timers
}
