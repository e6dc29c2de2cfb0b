import type { TemplateIds } from '../discovery/discovery.ts'
import type { SetupKey } from './key.ts'
import type { TemplateGroup } from './template.ts'

/** What the URL asks a provider to do. */
export interface Application {
  /** URL prefix of the page of the provider. */
  readonly page: string
  readonly template: TemplateIds
  /** Apex of the zone. */
  readonly zone: string
  /** The domain: the apex, or a name below it. */
  readonly name: string
  readonly groups: readonly TemplateGroup[]
  readonly selector: string
  /** SPKI in base64. */
  readonly publicKey: string
  /** Where the browser comes back to. */
  readonly returnUrl: string
  readonly state: string
}

/** The key that signs, and the label below the domain of keys at which it is published. */
export interface Signer {
  readonly key: SetupKey
  readonly label: string
}

/**
 * The signed URL of the page on which an owner agrees to a change of the zone (Domain Connect). The parameters are in the
 * order of their names: a provider that builds the signed text anew from the parameters gets the same one.
 */
export function applyUrl(application: Application, { key, label }: Signer): string {
  const { page, template, zone, name } = application
  const host = name === zone ? undefined : name.slice(0, -(zone.length + 1))
  const query = queryOf({
    dkim: application.publicKey,
    domain: zone,
    groupId: application.groups.join(','),
    ...(host !== undefined && { host }),
    redirect_uri: application.returnUrl,
    sel: application.selector,
    state: application.state,
  })
  const path = `/v2/domainTemplates/providers/${encoded(template.providerId)}/services/${encoded(template.serviceId)}/apply`
  return `${page}${path}?${query}&sig=${encoded(key.sign(query))}&key=${encoded(label)}`
}

function queryOf(parameters: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(parameters).map(([name, value]) => [name, encoded(value)] as const)
  return pairs
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** RFC 3986: everything but unreserved characters. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
