import { sql } from '@restante/service/database'
import type { InternalHandlers, ServiceClient } from '@restante/service/http'
import { mailHuman } from '../agents/human-mail.ts'
import { countInboxesOn } from '../domains/inboxes-on.ts'
import { confirmFor } from '../edge/access/confirmation.ts'
import { sendingInbox } from '../edge/access/scope.ts'
import { resolveRecipients } from '../inboxes/recipients.ts'
import { suspendForReputation } from '../organizations/suspension.ts'
import type { Db } from '../storage/database.ts'
import type { TenancyEvents } from '../tenancy/events.ts'
import { domainRights } from './domain-rights.ts'
import { lookUp } from './lookup.ts'
import { snapshotTenancy } from './snapshot.ts'

const LIVE = sql<{ id: string }, [ids: string[]]>(`
select id from credentials where id = any($1::uuid[]) and (expires_at is null or expires_at > now())`)

export interface InternalOptions {
  readonly db: Db
  readonly events: TenancyEvents
  readonly mailSend: ServiceClient<'gateway'>
  /** Most domains of an organization that has no limit of its own. */
  readonly domainLimit: number
}

/** What other services ask about organizations, pods, inboxes and keys. */
export function internalHandlers({ db, events, mailSend, domainLimit }: InternalOptions): InternalHandlers<'gateway'> {
  return {
    'gateway.resolveRecipients': async ({ body }) => ({ recipients: await resolveRecipients(db, body.addresses) }),
    'gateway.snapshotTenancy': async ({ body }) => snapshotTenancy(db, body.after, body.limit),
    'gateway.lookupInboxes': async ({ body }) => lookUp(db, body),
    'gateway.confirmCaller': async ({ body }) => confirmFor(db, body),
    'gateway.getSendingInbox': async ({ body }) => {
      const sender = await sendingInbox(db, body.inbox_uid)
      return sender ? { sender } : {}
    },
    'gateway.suspendOrganization': ({ body }) => suspendForReputation(db, events, body),
    'gateway.mailHuman': ({ body }) => mailHuman({ db, mailSend }, body),
    'gateway.getDomainRights': ({ body }) => domainRights(db, body, domainLimit),
    'gateway.countInboxesOn': async ({ body }) => ({ count: await countInboxesOn(db, body) }),
    'gateway.verifyCredentials': async ({ body }) => {
      const rows = await db.query(LIVE, body.credential_ids)
      return { live: rows.map((row) => row.id) }
    },
    'gateway.mintSignInKey': unbuilt,
    'gateway.activateSignInKey': unbuilt,
    'gateway.cancelSignInKey': unbuilt,
    'gateway.getSignInFacts': unbuilt,
  }
}

const unbuilt = (): never => {
  throw new Error('not built yet')
}
