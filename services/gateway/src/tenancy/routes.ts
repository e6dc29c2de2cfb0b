import { type InternalHandlers, sql } from '@restante/service'
import type { Db } from '../database.ts'
import { confirmFor } from '../edge/confirmation.ts'
import { resolveRecipients } from '../inboxes/recipients.ts'
import { lookUp } from './lookup.ts'
import { snapshotTenancy } from './snapshot.ts'

const LIVE = sql<{ id: string }, [ids: string[]]>(`
select id from credentials where id = any($1::uuid[]) and (expires_at is null or expires_at > now())`)

/** Internal operations about organizations, pods, inboxes and keys. */
export function tenancyRoutes({ db }: { db: Db }): InternalHandlers<'gateway'> {
  return {
    'gateway.resolveRecipients': async ({ body }) => ({ recipients: await resolveRecipients(db, body.addresses) }),
    'gateway.snapshotTenancy': async ({ body }) => snapshotTenancy(db, body.after, body.limit),
    'gateway.lookupInboxes': async ({ body }) => lookUp(db, body),
    'gateway.confirmCaller': async ({ body }) => confirmFor(db, body),
    'gateway.verifyCredentials': async ({ body }) => {
      const rows = await db.query(LIVE, body.credential_ids)
      return { live: rows.map((row) => row.id) }
    },
  }
}
