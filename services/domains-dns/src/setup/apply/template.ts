import { TRACKING_LABEL } from '@restante/contracts/vocabulary'
import { MX_PRIORITY, type Switches } from '../../records/expected.ts'
import type { Installation } from '../../records/installation.ts'
import type { TemplateIds } from '../discovery/discovery.ts'

/** Parts of the template; a domain gets those that its switches need. */
export type TemplateGroup = 'core' | 'inbound' | 'subdomains' | 'tracking'

/** The groups that a domain needs (domains 9). */
export function groupsOf(domain: Switches, { trackingHost }: Installation): TemplateGroup[] {
  return [
    'core',
    ...(domain.inbound_enabled ? (['inbound'] as const) : []),
    ...(domain.subdomains_enabled ? (['subdomains'] as const) : []),
    ...(domain.tracking_enabled && trackingHost !== undefined ? (['tracking'] as const) : []),
  ]
}

/** What a template says of the installation beside its records. */
export interface TemplateDescription extends TemplateIds {
  readonly providerName: string
  readonly serviceName: string
  /** Domain below which the public keys of setup links are published. */
  readonly keyDomain: string
  /** Host of the page that the browser comes back to. */
  readonly returnHost: string
}

interface TemplateRecord {
  readonly groupId: TemplateGroup
  readonly type: 'TXT' | 'MX' | 'SPFM' | 'CNAME'
  /** Relative to the domain; `@` is the domain itself. */
  readonly host: string
  readonly ttl?: number
  readonly data?: string
  readonly pointsTo?: string
  readonly priority?: number
  readonly spfRules?: string
  readonly txtConflictMatchingMode?: 'Prefix'
  readonly txtConflictMatchingPrefix?: string
}

/** The document that DNS providers take up once (Domain Connect); each setup link fills in its variables. */
export interface Template {
  readonly providerId: string
  readonly providerName: string
  readonly serviceId: string
  readonly serviceName: string
  readonly version: number
  readonly description: string
  readonly variableDescription: string
  readonly syncBlock: false
  readonly syncPubKeyDomain: string
  readonly syncRedirectDomain: string
  readonly records: readonly TemplateRecord[]
}

/** To be raised with every change of the records. */
const VERSION = 1
const TTL = 3_600

/**
 * The template of an installation (domains 9). It changes only records that belong to the service: an SPF record is merged
 * by the provider, and of the records at `_dmarc` only a DMARC one is replaced. The variable of the DKIM key is not called
 * `key`, because that is a parameter of the protocol.
 */
export function templateOf(installation: Installation, description: TemplateDescription): Template {
  const { providerId, providerName, serviceId, serviceName, keyDomain, returnHost } = description
  return {
    providerId,
    providerName,
    serviceId,
    serviceName,
    version: VERSION,
    description: 'Sends mail from a domain and receives mail at it',
    variableDescription: 'sel: label of the DKIM key; dkim: public DKIM key, SPKI in base64',
    syncBlock: false,
    syncPubKeyDomain: keyDomain,
    syncRedirectDomain: returnHost,
    records: recordsOf(installation),
  }
}

function recordsOf(installation: Installation): TemplateRecord[] {
  const { mxHost, returnHost, returnPathLabel, spfInclude, trackingHost } = installation
  const mx = (groupId: TemplateGroup, host: string, pointsTo: string) =>
    ({ groupId, type: 'MX', host, pointsTo, priority: MX_PRIORITY, ttl: TTL }) as const
  return [
    { groupId: 'core', type: 'TXT', host: '%sel%._domainkey', data: 'v=DKIM1; k=rsa; p=%dkim%', ttl: TTL },
    mx('core', returnPathLabel, returnHost),
    { groupId: 'core', type: 'SPFM', host: returnPathLabel, spfRules: `include:${spfInclude}` },
    {
      groupId: 'core',
      type: 'TXT',
      host: '_dmarc',
      data: 'v=DMARC1; p=reject; rua=mailto:dmarc@%fqdn%',
      ttl: TTL,
      txtConflictMatchingMode: 'Prefix',
      txtConflictMatchingPrefix: 'v=DMARC1',
    },
    mx('inbound', '@', mxHost),
    mx('subdomains', '*', mxHost),
    ...(trackingHost === undefined
      ? []
      : [{ groupId: 'tracking', type: 'CNAME', host: TRACKING_LABEL, pointsTo: trackingHost, ttl: TTL } as const]),
  ]
}
