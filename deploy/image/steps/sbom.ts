import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { billOfMaterials } from './bill-of-materials.ts'
import { installedPackages } from './installed.ts'

/** `sbom.ts <folder> <package> <lockfile>`: writes `sbom.cdx.json` into the folder, about a service and all it contains. */

const [folder, service, lockfile] = process.argv.slice(2)
if (folder === undefined || service === undefined || lockfile === undefined) {
  throw new Error('usage: sbom.ts <folder> <package> <lockfile>')
}
const lines = (await readFile(lockfile, 'utf8')).matchAll(
  /^ {2}'?([^\s'].*?)'?:\n {4}resolution: \{integrity: ([^,}]+)/gm,
)
const integrity = new Map([...lines].map(([, name = '', hash = '']) => [name, hash]))
const document = billOfMaterials(await installedPackages(folder), service, integrity)
await writeFile(path.join(folder, 'sbom.cdx.json'), `${JSON.stringify(document, null, 1)}\n`)
