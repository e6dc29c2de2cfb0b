import type { Database } from '@restante/service/database'
import { findClient } from '../apps/find.ts'
import { findTicket } from '../connect/tickets.ts'
import { enrollmentPage, expiredLinkPage, type RenderedPage } from '../pages/index.ts'

/** The page of a magic link. It shows, and uses nothing up: scanners of mails open links too (apps 7.2, step 0). */
export async function linkPage(db: Database, authBase: string, ticket: string): Promise<RenderedPage> {
  const found = await findTicket(db, ticket)
  const client = found && (await findClient(db, found.app_id, { open: false }))
  if (found === undefined || client?.initiateLoginUri === undefined) return expiredLinkPage()
  const { address } = found
  const continueTo = loginUrl(client.initiateLoginUri, authBase, address)
  return enrollmentPage({ app: { name: client.name ?? null, host: client.host ?? '' }, ticket, address, continueTo })
}

/**
 * Where the app begins the sign-in (OpenID Connect Core 4): with these two parameters, and no other. The registered URI
 * stays as it is, with its own query.
 */
function loginUrl(initiateLoginUri: string, iss: string, loginHint: string): string {
  const [registered = ''] = initiateLoginUri.split('#', 1)
  return `${registered}${registered.includes('?') ? '&' : '?'}${new URLSearchParams({ iss, login_hint: loginHint })}`
}
