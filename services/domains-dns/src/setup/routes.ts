import type { Handlers, InternalHandlers } from '@restante/service/http'
import { type LinkOptions, setupLink } from './link.ts'
import { completeSetup, type ReturnOptions } from './return.ts'

/** One-click setup of the records of a domain. */
export function setupRoutes(options: LinkOptions): Pick<Handlers<'domains-dns'>, 'domains.getSetupLink'> {
  return { 'domains.getSetupLink': ({ caller, params }) => setupLink(options, caller, params.domain_id) }
}

/** The page that the browser comes back to, which the gateway serves. */
export function returnRoutes(
  options: ReturnOptions,
): Pick<InternalHandlers<'domains-dns'>, 'domains-dns.completeSetup'> {
  return { 'domains-dns.completeSetup': ({ body, log }) => completeSetup(options, body.state, log) }
}
