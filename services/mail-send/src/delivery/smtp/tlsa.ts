import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import mxConnect, { type TlsaRecord } from 'mx-connect'

const DANE_TA = 2
const DANE_EE = 3
/** Bytes of the data by matching type; the whole certificate or key has any number. */
const DIGESTS: Readonly<Record<number, number | undefined>> = { 1: 32, 2: 64 }
/** Longest chain that is looked at. */
const MOST_CERTIFICATES = 10

/**
 * Records by which a server can be recognised. Usages 0 and 1 cannot be used with SMTP (RFC 7672 3.1.3); a record of
 * unknown kind says nothing.
 */
export function usable(records: readonly TlsaRecord[]): TlsaRecord[] {
  return records.filter(
    ({ usage, selector, mtype, cert }) =>
      (usage === DANE_TA || usage === DANE_EE) &&
      (selector === 0 || selector === 1) &&
      (mtype === 0 ? cert.length > 0 : DIGESTS[mtype] === cert.length),
  )
}

/**
 * Whether the server is the one that usable records describe. A certificate that is named itself needs neither a name
 * nor a date (RFC 7672 3.1.1); below a named authority it needs both, and each issuer must be one (3.1.2).
 * @param names of the host, and of the domain whose mail it takes.
 */
export function isDescribed(socket: TLSSocket, records: readonly TlsaRecord[], names: readonly string[]): boolean {
  const [leaf, ...issuers] = chainOf(socket)
  if (!leaf) return false
  const { verifyCertAgainstTlsa } = mxConnect.dane
  const own = records.filter(({ usage }) => usage === DANE_EE)
  if (own.length > 0 && verifyCertAgainstTlsa(leaf, own).valid) return true
  const authorities = records.filter(({ usage }) => usage === DANE_TA)
  if (authorities.length === 0 || !isCurrent(leaf) || !names.some((name) => leaf.checkHost(name))) return false
  const chain = issuers.filter((issuer) => issuer.ca && isCurrent(issuer))
  return verifyCertAgainstTlsa(leaf, authorities, chain).valid
}

function isCurrent({ validFromDate, validToDate }: X509Certificate): boolean {
  const now = Date.now()
  return validFromDate.getTime() <= now && now <= validToDate.getTime()
}

/** What the server sent, its own certificate first. One that is signed by itself has itself as its issuer. */
function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = []
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
  const seen = new Set<string>()
  while (next?.raw && !seen.has(next.fingerprint256) && chain.length < MOST_CERTIFICATES) {
    seen.add(next.fingerprint256)
    chain.push(new X509Certificate(next.raw))
    next = next.issuerCertificate
  }
  return chain
}
