import { createHash } from 'node:crypto'
import type { Package } from './installed.ts'

/** The name of a package in a package URL: the `@` of a scope is encoded, its slash is not. */
const packageUrl = ({ name, version }: Package): string => `pkg:npm/${name.replace('@', '%40')}@${version}`

/**
 * A CycloneDX 1.6 document of the packages in an image, without a time, so that the same packages make the same document.
 *
 * @param packages by folder, as `installedPackages` finds them
 * @param service the name of the service's own package, which the document is about
 * @param integrity what the lockfile says about a package, `sha512-` and base64, by `name@version`
 */
export function billOfMaterials(
  packages: ReadonlyMap<string, Package>,
  service: string,
  integrity: ReadonlyMap<string, string>,
): object {
  const components = new Map<string, object>()
  const dependencies = new Map<string, Set<string>>()
  let about: object | undefined
  for (const each of packages.values()) {
    const url = packageUrl(each)
    const component = describe(each, integrity.get(`${each.name}@${each.version}`))
    if (each.name === service) about = { ...component, type: 'application' }
    else components.set(url, component)
    const targets = dependencies.get(url) ?? new Set()
    dependencies.set(url, targets)
    for (const folder of each.dependencies) {
      const target = packages.get(folder)
      if (target !== undefined && target !== each) targets.add(packageUrl(target))
    }
  }
  if (about === undefined) throw new Error(`${service} is not installed here`)
  const content = {
    metadata: { component: about },
    components: inOrder(components),
    dependencies: inOrder(dependencies).map(([ref, targets]) => ({ ref, dependsOn: [...targets].sort() })),
  }
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    version: 1,
    ...content,
    components: content.components.map(([, component]) => component),
  }
}

const inOrder = <T>(entries: ReadonlyMap<string, T>): [string, T][] =>
  [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))

function describe(each: Package, integrity: string | undefined): object {
  const url = packageUrl(each)
  const [, scope, name] = /^(?:(@[^/]+)\/)?(.+)$/.exec(each.name) ?? []
  return {
    type: 'library',
    'bom-ref': url,
    ...(scope === undefined ? {} : { group: scope }),
    name,
    version: each.version,
    purl: url,
    ...(each.license === undefined ? {} : { licenses: [licenseOf(each.license)] }),
    ...(integrity?.startsWith('sha512-')
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }] }
      : {}),
    ...(each.patched ? { pedigree: { patches: [{ type: 'unofficial' }] } } : {}),
  }
}

/** As CycloneDX tells them apart: an identifier of SPDX, an expression of them, or other words. */
function licenseOf(license: string): object {
  if (/^[\w.-]+$/.test(license)) return { license: { id: license } }
  return /^[\w.+()-]+( (AND|OR|WITH) [\w.+()-]+)*$/.test(license)
    ? { expression: license }
    : { license: { name: license } }
}

/** A UUID of version 8, which is made of the content alone. */
function uuidOf(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
