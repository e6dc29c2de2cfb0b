import type { ZoneRecord } from '@restante/testkit'

/** Reserved for tests by RFC 2606, like every domain here. */
const PEER = /^(mx\.)?p-(\d+)-(\d+)\.test$/

/** Domain of the mail peer that listens on 127.0.a.b. */
export function peerDomain(a: number, b: number): string {
  return `p-${a}-${b}.test`
}

/** Address of the peer with that domain. */
export function peerHost(a: number, b: number): string {
  return `127.0.${a}.${b}`
}

/** The peer that receives mail to the operator. Peers of tests have smaller numbers. */
export const OPERATOR_PEER = [255, 1] as const

/** A domain whose SPF record does not allow loopback and whose policy asks to reject other senders. */
export const STRICT_DOMAIN = 'strict.test'

/** A zone whose owner registers domains below it, and publishes none of their records. */
export const OWNED_ZONE = 'owned.test'

/**
 * The external DNS: each peer has an MX record, and an SPF record that allows loopback to send for it. All other names
 * do not exist, so mail from them cannot be authenticated.
 */
export function outsideNames(name: string): readonly ZoneRecord[] | undefined {
  if (name === STRICT_DOMAIN) return [{ type: 'TXT', data: 'v=spf1 ip4:192.0.2.1 -all' }]
  if (name === `_dmarc.${STRICT_DOMAIN}`) return [{ type: 'TXT', data: 'v=DMARC1; p=reject' }]
  if (name === OWNED_ZONE) return [{ type: 'SOA', primary: `ns.${name}`, admin: `hostmaster.${name}` }]
  const [, exchange, a, b] = PEER.exec(name) ?? []
  if (a === undefined || b === undefined) return undefined
  if (exchange) return [{ type: 'A', address: peerHost(Number(a), Number(b)) }]
  return [
    { type: 'MX', exchange: `mx.${name}`, priority: 10 },
    { type: 'TXT', data: 'v=spf1 ip4:127.0.0.0/8 -all' },
  ]
}
