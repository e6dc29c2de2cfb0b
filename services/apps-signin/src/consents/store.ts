import { LIMITS, type SignInScope } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { RememberedConsent } from './rules.ts'

const SECONDS = LIMITS.app.consent / 1_000

const FIND = sql<RememberedConsent, [clientId: string, inboxUid: string, seconds: number]>(
  `select scopes, redirect_uri, disclosure_version, owner_hash, given_by,
     used_at > now() - $3 * interval '1 second' as fresh
   from consents where client_id = $1 and inbox_uid = $2`,
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
