import { sql, type Tx } from '@restante/service/database'

/** An inbox that is to sign up at a registered app. */
export interface SigningUp {
  readonly appId: string
  readonly organizationId: string
  readonly inboxUid: string
}

/** `paused`: the limit is 0. `reached`: as many inboxes of the organization have signed up as may. */
export type SignUpRefusal = 'paused' | 'reached'

const LOCK = sql<never, [appId: string, organizationId: string]>(
  `select pg_advisory_xact_lock(hashtextextended('sign-ups at ' || $1 || ' of ' || $2, 0))`,
)
/** SHA-256 of the uid of an inbox, as `sign_ups` has it. */
const HASH = (uid: string) => `sha256(convert_to(${uid}::text, 'UTF8'))`
const LIMIT = sql<{ most: number | null; known: boolean }, [appId: string, organizationId: string, inboxUid: string]>(
  `select coalesce((select most from sign_up_limits where app_id = $1 and organization_id = $2), apps.owner_signup_limit) as most,
     exists (select from sign_ups where app_id = $1 and organization_id = $2 and inbox_hash = ${HASH('$3::uuid')}) as known
   from apps where apps.id = $1`,
)
/** A code that is not exchanged yet becomes a sign-up. An exchange that began before its end may commit after it. */
const USED = sql<{ used: number }, [appId: string, organizationId: string, inboxUid: string, most: number]>(
  `select count(*)::int as used from (
     (select inbox_hash from sign_ups where app_id = $1 and organization_id = $2
      union
      select ${HASH('inbox_uid')} from codes
       where app_id = $1 and organization_id = $2 and inbox_uid <> $3 and used_at is null
         and expires_at > now() - interval '1 minute')
     limit $4) as counted`,
)

/**
 * Whether an inbox may sign up at an app, as far as the limit of its organization goes (apps 2). Inboxes that have signed
 * up always may; deleted ones count. Sign-ups of one organization at one app are decided one after the other, until the
 * transaction ends.
 * @returns undefined when it may.
 */
export async function admitSignUp(
  tx: Tx,
  { appId, organizationId, inboxUid }: SigningUp,
): Promise<SignUpRefusal | undefined> {
  await tx.query(LOCK, appId, organizationId)
  const [found] = await tx.query(LIMIT, appId, organizationId, inboxUid)
  if (found === undefined || found.known || found.most === null) return undefined
  if (found.most === 0) return 'paused'
  const [counted] = await tx.query(USED, appId, organizationId, inboxUid, found.most)
  return (counted?.used ?? 0) < found.most ? undefined : 'reached'
}

const RECORD = sql<never, [appId: string, organizationId: string, inboxUid: string]>(
  `insert into sign_ups (app_id, organization_id, inbox_hash) values ($1, $2, ${HASH('$3::uuid')}) on conflict do nothing`,
)

/** Counts an inbox among those that have ever signed up. */
export async function recordSignUp(tx: Tx, { appId, organizationId, inboxUid }: SigningUp): Promise<void> {
  await tx.query(RECORD, appId, organizationId, inboxUid)
}
