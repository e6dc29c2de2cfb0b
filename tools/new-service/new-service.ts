import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

const TEMPLATE = path.join(import.meta.dirname, 'template')
const SUFFIX = '.template'
const SERVICES = 'libs/contracts/src/vocabulary/services.ts'
const INTERNAL = 'libs/contracts/src/internal/table.ts'
const VALUES = 'helm/restante/values.yaml'

/**
 * Writes a new service from the template, and adds its name to the two lists of the contracts that everything else
 * uses, and to the values of the chart.
 * @param root the folder of the repository.
 * @returns the files that were written or changed, relative to it.
 * @throws Error when the name cannot be one, or the service exists.
 */
export async function newService(root: string, name: string, now: Date): Promise<string[]> {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    throw new Error('Usage: npm run new-service -- <name>, with lower-case words such as agent-calendar')
  }
  const folder = path.join('services', name)
  const exists = await access(path.join(root, folder)).then(
    () => true,
    () => false,
  )
  if (exists) throw new Error(`${folder} exists already`)
  const camel = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  const stamp = now.toISOString().replaceAll(/\D/g, '').slice(0, 14)
  const fill = (text: string) => text.replaceAll('__name__', name).replaceAll('__camel__', camel)
  const written: string[] = []
  for (const file of (await templateFiles()).sort()) {
    const isContract = file === `operation.ts${SUFFIX}`
    const own = fill(file.slice(0, -SUFFIX.length)).replace('migrations/init', `migrations/${stamp}_init`)
    const target = isContract ? `libs/contracts/src/internal/${name}.ts` : path.join(folder, own)
    await mkdir(path.dirname(path.join(root, target)), { recursive: true })
    await writeFile(path.join(root, target), fill(await readFile(path.join(TEMPLATE, file), 'utf8')))
    written.push(target)
  }
  await edit(path.join(root, SERVICES), /(export const SERVICES = \[[^\]]*?),?(\s*\] as const)/, `$1, '${name}'$2`)
  const operations = `${camel}InternalOperations`
  await edit(
    path.join(root, INTERNAL),
    /(\n\n\/\*\* Every synchronous)/,
    `\nimport { ${operations} } from './${name}.ts'$1`,
  )
  await edit(path.join(root, INTERNAL), /(\n\} as const satisfies Record<string, Int)/, `\n  ...${operations},$1`)
  // The services are the last group of the chart's values.
  await edit(path.join(root, VALUES), /(\nservices:\n(?: {2}.*\n)+)$/, `$1  ${name}: {}\n`)
  return [...written, SERVICES, INTERNAL, VALUES]
}

async function templateFiles(): Promise<string[]> {
  const entries = await readdir(TEMPLATE, { recursive: true })
  return entries.filter((entry) => entry.endsWith(SUFFIX))
}

/** @throws Error when the file has changed, so that the generator must be adapted. */
async function edit(file: string, place: RegExp, replacement: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  if (!place.test(text)) throw new Error(`${file} does not look as expected: ${place}`)
  await writeFile(file, text.replace(place, replacement))
}
