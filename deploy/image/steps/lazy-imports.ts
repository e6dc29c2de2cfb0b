import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** A module that a process loads only when it needs it, or in a thread. */
export interface LazyImport {
  readonly specifier: string
  /** The URL of the module that names it, which decides what the specifier means. */
  readonly from: string
}

const DYNAMIC = /(?<!typeof )\bimport\('([^']+)'\)/g
const THREAD = /new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g

/** Finds what the sources below `libs` and `services`, where there are any, import by `import('...')` or run in threads. */
export async function lazyImports(root: string): Promise<LazyImport[]> {
  const found: LazyImport[] = []
  for (const parent of ['libs', 'services']) {
    for (const name of (await readdir(path.join(root, parent)).catch(() => [])).sort()) {
      const source = path.join(root, parent, name, 'src')
      const files = (await readdir(source, { recursive: true }))
        .filter((file) => /(?<!\/testing)\.ts$/.test(file))
        .sort()
      for (const file of files.filter((each) => !each.startsWith('generated/'))) {
        const text = await readFile(path.join(source, file), 'utf8')
        const from = pathToFileURL(path.join(source, file)).href
        for (const [, specifier = ''] of [...text.matchAll(DYNAMIC), ...text.matchAll(THREAD)]) {
          found.push({ specifier, from })
        }
      }
    }
  }
  return found
}

/** A module's text that loads modules, and then all that they load lazily. Needs `LOADER_FLAGS`. */
export const loader = (modules: readonly string[], lazy: readonly LazyImport[]): string => `
  for (const url of ${JSON.stringify(modules.map((module) => pathToFileURL(module).href))}) await import(url)
  for (const { specifier, from } of ${JSON.stringify(lazy)}) await import(import.meta.resolve(specifier, from))
`

/** `import.meta.resolve` takes the importing module only with this flag of Node. */
export const LOADER_FLAGS = ['--experimental-import-meta-resolve', '--input-type=module']
