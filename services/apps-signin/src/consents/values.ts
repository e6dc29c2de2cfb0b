import { createHash } from 'node:crypto'
import { claimsOf, type Subjects } from '../codes/claims.ts'
import type { ConsentData, SharedValues } from '../pages/index.ts'
import { type Proven, sharesOwner } from './gate.ts'
import { asksOwner, isOwnerScope } from './rules.ts'

/**
 * What the app gets if the person at the browser allows it. Facts about the owner are shown only if the key may share
 * them: otherwise the owner is asked, and the person at the browser does not learn them either.
 */
export function sharedValues(subjects: Subjects, proven: Proven): SharedValues {
  const { transaction, client, facts } = proven
  const { inbox, owner } = facts
  if (inbox === undefined) return {}
  const scopes = sharesOwner(proven) ? transaction.scopes : transaction.scopes.filter((scope) => !isOwnerScope(scope))
  const registered = client.kind === 'registered'
  const claims = claimsOf(subjects, { scopes, inbox, owner, registered })
  return { ...claims, ...(registered && { org: inbox.organization_id }) }
}

/** The question of the consent page. */
export function consentData(subjects: Subjects, proven: Proven): ConsentData {
  const { transaction, client } = proven
  return {
    app: { ...appShown(proven), termsUrl: client.termsUrl ?? null, privacyUrl: client.privacyUrl ?? null },
    jti: transaction.jti,
    address: transaction.address,
    values: sharedValues(subjects, proven),
    ownerIsAsked: asksOwner(transaction.scopes) && !sharesOwner(proven),
    disclosure: client.disclosure ?? null,
    shown: shownDigest(subjects, proven),
  }
}

/** The app as pages name it: with the host that the data goes to. */
export function appShown({ transaction, client }: Pick<Proven, 'transaction' | 'client'>) {
  const host = URL.parse(transaction.redirect_uri)?.host ?? client.host ?? ''
  return { name: client.name ?? null, host }
}

/**
 * Names what a consent page shows. The answer returns it, so that nobody consents to values, terms or an app that have
 * changed while the page was open.
 */
export function shownDigest(subjects: Subjects, proven: Proven): string {
  const { transaction, client } = proven
  const { clientId, name, termsUrl, privacyUrl, disclosure, disclosureVersion } = client
  const app = [clientId, name, termsUrl, privacyUrl, disclosure, disclosureVersion]
  const values = Object.entries(sharedValues(subjects, proven)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const shown = [app, transaction.redirect_uri, [...transaction.scopes].toSorted(), values]
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url')
}
