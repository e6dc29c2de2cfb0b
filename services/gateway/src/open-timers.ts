import { Timers } from '@restante/jobs'
import { mailCodes } from './agents/code-mail.ts'
import type { Config, GatewayKit } from './config.ts'
import type { Secrets } from './credentials/secrets.ts'
import { deleteOrganizations } from './deletion/delete-organizations.ts'
import { deleteInactive } from './deletion/inactivity.ts'
import { awaitPurges } from './deletion/inbox-purge.ts'
import { deletePendingKeys } from './deletion/pending-keys.ts'
import { purgeBacklog } from './deletion/purge-backlog.ts'
import { sweepHourly } from './deletion/sweep.ts'
import { type RecurringJobKind, RecurringJobs } from './recurring-jobs.ts'
import type { GatewayTimerKinds, GatewayTimers } from './storage/timers.ts'
import type { TenancyEvents } from './tenancy/events.ts'

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
  deletePendingKeys(timers, { db, events })
  deleteOrganizations(timers, { db, events, timers, retiredAddressMs })
  const kinds: RecurringJobKind[] = ['sweep', 'pending-sign-in-keys']
  if (inactiveMs !== undefined) {
    deleteInactive(timers, { db, events, timers, log, mailIngest: kit.peer('mail-ingest'), inactiveMs })
    kinds.push('inactive-organizations')
  }
  kit.use(purgeBacklog(db, log))
  kit.use(new RecurringJobs({ timers, db, log, kinds }))
  return timers
}
