import type { RemoteHost } from '../../smtp/connection.ts'

/** A relay that accepts mail for external recipients. */
export interface Smarthost {
  readonly host: string
  readonly port: number
  readonly tls: RemoteHost['tls']
  readonly credentials: RemoteHost['credentials']
  /** Concurrent attempts of a process; undefined: as many as at a domain. */
  readonly concurrency?: number | undefined
}

/**
 * Where the mail of each sending domain goes: to a relay, or to the MX hosts although there is a default relay. A name that
 * begins with a dot stands for everything below a domain.
 */
export type SenderRoutes = ReadonlyMap<string, Smarthost | 'direct'>

type TlsChoice = 'auto' | 'opportunistic' | 'required' | 'implicit' | 'none'

/** A password is never sent unencrypted unless an operator configures that explicitly. */
export function tlsOf(choice: TlsChoice, hasLogin: boolean): Exclude<TlsChoice, 'auto'> {
  if (choice !== 'auto') return choice
  return hasLogin ? 'required' : 'opportunistic'
}

/** Equal for relays whose sessions are interchangeable, and whose troubles are the same. */
export function smarthostKey({ host, port, tls, credentials }: Smarthost): string {
  return `smarthost ${JSON.stringify([host, port, tls, credentials?.user])}`
}

/** The most specific route for mail from a domain; undefined: the default. */
export function routeFor(routes: SenderRoutes, domain: string): Smarthost | 'direct' | undefined {
  const own = routes.get(domain)
  if (own !== undefined) return own
  const labels = domain.split('.')
  for (let left = 1; left < labels.length; left++) {
    const found = routes.get(`.${labels.slice(left).join('.')}`)
    if (found !== undefined) return found
  }
  return undefined
}
