import { type RecordType, TRACKING_LABEL } from '@restante/contracts/vocabulary'
import type { Installation } from './installation.ts'

/** The records of a domain, in the order in which they are shown (domains 2.4). */
export const RECORD_KINDS = ['apex_mx', 'wildcard_mx', 'return_mx', 'spf', 'dkim', 'dmarc', 'tracking'] as const
export type RecordKind = (typeof RECORD_KINDS)[number]

/** Priority of every MX record. */
export const MX_PRIORITY = 10

/** What decides which records a domain needs. */
export interface Switches {
  /** Lower case, in A-labels. */
  readonly name: string
  readonly inbound_enabled: boolean
  readonly subdomains_enabled: boolean
  readonly tracking_enabled: boolean
}

/** A record that must be published: the full name, and the value as it is, without quotes or dots at its end. */
export interface ExpectedRecord {
  readonly kind: RecordKind
  readonly type: RecordType
  readonly name: string
  readonly value: string
  readonly priority?: number
}

/** What a domain publishes of its key. It is that of the registration, whatever is configured for new ones by now. */
export interface PublishedKey {
  readonly selector: string
  /** SPKI in base64. */
  readonly publicKey: string
}

/** The records that a domain must publish (domains 3). */
export function expectedRecords(
  domain: Switches,
  { selector, publicKey }: PublishedKey,
  installation: Installation,
): readonly ExpectedRecord[] {
  const { name } = domain
  const returnPath = returnPathOf(name, installation)
  const reports = domain.inbound_enabled ? `; rua=mailto:dmarc@${name}` : ''
  const mx = (kind: RecordKind, at: string, value: string) =>
    ({ kind, type: 'MX', name: at, value, priority: MX_PRIORITY }) as const
  const txt = (kind: RecordKind, at: string, value: string) => ({ kind, type: 'TXT', name: at, value }) as const
  return [
    ...(domain.inbound_enabled ? [mx('apex_mx', name, installation.mxHost)] : []),
    ...(domain.subdomains_enabled ? [mx('wildcard_mx', `*.${name}`, installation.mxHost)] : []),
    mx('return_mx', returnPath, installation.returnHost),
    txt('spf', returnPath, `v=spf1 include:${installation.spfInclude} -all`),
    txt('dkim', `${selector}._domainkey.${name}`, `v=DKIM1; k=rsa; p=${publicKey}`),
    txt('dmarc', `_dmarc.${name}`, `v=DMARC1; p=reject${reports}`),
    ...(domain.tracking_enabled && installation.trackingHost !== undefined
      ? [{ kind: 'tracking', type: 'CNAME', name: trackingHostOf(name), value: installation.trackingHost } as const]
      : []),
  ]
}

/** The kinds of the records that a domain must publish. */
export function requiredKinds(domain: Switches, installation: Installation): readonly RecordKind[] {
  return expectedRecords(domain, { selector: '', publicKey: '' }, installation).map(({ kind }) => kind)
}

/** Domain of the envelope senders of a domain's mail. */
export function returnPathOf(name: string, { returnPathLabel }: Installation): string {
  return `${returnPathLabel}.${name}`
}

/** Host of the images that tell of opening. */
export function trackingHostOf(name: string): string {
  return `${TRACKING_LABEL}.${name}`
}

/** The domain of such a host; undefined when its name is that of none. */
export function nameOfTrackingHost(host: string): string | undefined {
  const prefix = `${TRACKING_LABEL}.`
  return host.startsWith(prefix) ? host.slice(prefix.length) : undefined
}
