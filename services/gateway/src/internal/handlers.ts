import { KeyedMutex } from '@restante/service/concurrency'
import { sql } from '@restante/service/database'
import type { InternalHandlers, ServiceClient } from '@restante/service/http'
import { mailHuman } from '../agents/human-mail.ts'
import type { Secrets } from '../credentials/secrets.ts'
import { countInboxesOn } from '../domains/inboxes-on.ts'
import { confirmFor } from '../edge/access/confirmation.ts'
import { sendingInbox } from '../edge/access/scope.ts'
import { admitToolCall } from '../edge/rate-limits/admit-tool-call.ts'
import type { RateLimits } from '../edge/rate-limits/rate-limits.ts'
import { resolveRecipients } from '../inboxes/recipients.ts'
import { suspendForReputation } from '../organizations/suspension.ts'
import { activateSignInKey, cancelSignInKey } from '../sign-in/activate.ts'
import { getSignInFacts } from '../sign-in/facts.ts'
import { mintSignInKey } from '../sign-in/mint.ts'
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
  readonly secrets: Secrets
  readonly mailSend: ServiceClient<'gateway'>
  readonly limits: RateLimits
  /** Most live keys of an organization that has no limit of its own. */
  readonly credentialLimit: number
  /** Most domains of an organization that has no limit of its own. */
  readonly domainLimit: number
}

/** What other services ask about organizations, pods, inboxes and keys. */
export function internalHandlers(options: InternalOptions): InternalHandlers<'gateway'> {
  const { db, events, secrets, mailSend, limits, domainLimit } = options
  const signIn = { ...options, turns: new KeyedMutex() }
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
    'gateway.mailHuman': ({ body }) => mailHuman({ db, secrets, mailSend }, body),
    'gateway.getDomainRights': ({ body }) => domainRights(db, body, domainLimit),
    'gateway.countInboxesOn': async ({ body }) => ({ count: await countInboxesOn(db, body) }),
    'gateway.verifyCredentials': async ({ body }) => {
      const rows = await db.query(LIVE, body.credential_ids)
      return { live: rows.map((row) => row.id) }
    },
    'gateway.mintSignInKey': ({ body }) => mintSignInKey(signIn, body),
    'gateway.activateSignInKey': ({ body }) => activateSignInKey(signIn, body),
    'gateway.cancelSignInKey': ({ body }) => cancelSignInKey(signIn, body),
    'gateway.admitToolCall': ({ body }) => admitToolCall(limits, body),
    'gateway.getSignInFacts': ({ body }) => getSignInFacts(db, secrets, body),
  }
}
