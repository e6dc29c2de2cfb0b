import { LIMITS, type SignInScope } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { RememberedConsent } from './rules.ts'

const SECONDS = LIMITS.app.consent / 1_000

// The account tells the latest sign-in, so that a consent needs no write of its own at each of them.
const FIND = sql<RememberedConsent, [clientId: string, inboxUid: string, seconds: number]>(
  `select consents.scopes, consents.redirect_uri, consents.disclosure_version, consents.owner_hash, consents.given_by,
     greatest(consents.used_at, accounts.last_signed_in_at) > now() - $3 * interval '1 second' as fresh
   from consents
     left join apps on apps.client_id = consents.client_id
     left join accounts on accounts.app_id = apps.id and accounts.inbox_uid = consents.inbox_uid
   where consents.client_id = $1 and consents.inbox_uid = $2`,
)

/** What was accepted for an inbox at a client, fresh or not. */
export async function findConsent(
  on: Queryable,
  clientId: string,
  inboxUid: string,
): Promise<RememberedConsent | undefined> {
  const [consent] = await on.query(FIND, clientId, inboxUid, SECONDS)
  return consent
}

/** What was accepted, for which inbox and client, and by whom. */
export interface GivenConsent {
  readonly clientId: string
  readonly organizationId: string
  readonly inboxUid: string
  readonly scopes: readonly SignInScope[]
  /** Null: whichever the app has registered. */
  readonly redirectUri: string | null
  readonly disclosureVersion: number
  readonly ownerHash: Uint8Array | null
  readonly givenBy: RememberedConsent['given_by']
}

const RECORD = sql<
  { given_at: Date },
  [
    clientId: string,
    inboxUid: string,
    organizationId: string,
    scopes: readonly string[],
    redirectUri: string | null,
    disclosureVersion: number,
    ownerHash: Uint8Array | null,
    givenBy: string,
  ]
>(
  `insert into consents (client_id, inbox_uid, organization_id, scopes, redirect_uri, disclosure_version, owner_hash, given_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (client_id, inbox_uid) do update set organization_id = excluded.organization_id,
     scopes = excluded.scopes, redirect_uri = excluded.redirect_uri, disclosure_version = excluded.disclosure_version,
     owner_hash = excluded.owner_hash, given_by = excluded.given_by, given_at = now(), used_at = now()
   returning given_at`,
)

/**
 * Remembers a consent in place of the earlier one. The caller holds the scopes of the inbox (`holdScopes`).
 * @returns when it was given.
 */
export async function recordConsent(tx: Queryable, given: GivenConsent): Promise<Date> {
  const { clientId, inboxUid, organizationId, scopes, redirectUri, disclosureVersion, ownerHash, givenBy } = given
  const values = [clientId, inboxUid, organizationId, scopes, redirectUri, disclosureVersion, ownerHash] as const
  const [recorded] = await tx.query(RECORD, ...values, givenBy)
  if (recorded === undefined) throw new Error('the stored consent was not returned')
  return recorded.given_at
}

/**
 * Removes consents that are no longer remembered, in the form of sweeps. One whose account has signed in since is not
 * removed: it takes over the time of that sign-in.
 */
export const SWEEP_CONSENTS = sql<{ readonly swept: boolean }, [limit: number]>(
  `with old as (
     select consents.client_id, consents.inbox_uid, accounts.last_signed_in_at
       from consents
         left join apps on apps.client_id = consents.client_id
         left join accounts on accounts.app_id = apps.id and accounts.inbox_uid = consents.inbox_uid
      where consents.used_at <= now() - interval '${SECONDS} seconds'
      order by consents.used_at limit $1 for update of consents skip locked
   ), used as (
     update consents set used_at = old.last_signed_in_at from old
      where consents.client_id = old.client_id and consents.inbox_uid = old.inbox_uid
        and old.last_signed_in_at > consents.used_at
     returning consents.client_id, consents.inbox_uid
   ), deleted as (
     delete from consents using old
      where consents.client_id = old.client_id and consents.inbox_uid = old.inbox_uid
        and (old.last_signed_in_at is null or old.last_signed_in_at <= consents.used_at)
     returning consents.client_id
   )
   select true as swept from used union all select true from deleted`,
)
