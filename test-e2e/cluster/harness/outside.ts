import { MailPeer } from '@restante/testkit'

/**
 * What pods take for a host on the Internet, and the domain whose MX and SPF records name it (deploy/cluster/node). This
 * program has that address.
 */
export const OUTSIDE_HOST = '11.0.0.10'
export const OUTSIDE_DOMAIN = 'outside.test'

/** Starts the MX host of the domain outside. */
export function startMailServer(): Promise<MailPeer> {
  return new MailPeer({ host: OUTSIDE_HOST, port: 25, name: `mx.${OUTSIDE_DOMAIN}` }).start()
}
