import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')
const SERVICES = readdirSync(path.join(root, 'services')).map((name) => path.join(root, 'services', name))

/** Programs whose paths are composed by the modules that start them. */
const STARTED: Readonly<Record<string, readonly string[]>> = {
  'test-e2e/stack/service-process.ts': SERVICES.map((service) => path.join(service, 'src/main.ts')),
  'libs/testkit/src/services/gateway-host.ts': [path.join(root, 'services/gateway/src/main.ts')],
}
/** A module that is named in quotes runs as a process or in a thread. */
const NAMED_MODULE = /'((?:[\w-]+\/|\.\.?\/)*[\w-]+\.ts)'/g

/**
 * What a module depends on, for `npm test -- --changed`: its imports, and the programs that it starts. Jest calls it
 * for every module of the repository.
 */
export function extract(
  code: string,
  filePath: string,
  extractImports: (code: string, filePath: string) => Iterable<string>,
): Set<string> {
  const found = new Set(extractImports(code, filePath))
  const folder = path.dirname(filePath)
  const started = STARTED[path.relative(root, filePath)] ?? []
  for (const program of [...started, ...programsIn(code, folder)]) found.add(`./${path.relative(folder, program)}`)
  return found
}

/** Jest discards its cache of dependencies when this changes. */
export function getCacheKey(): string {
  return createHash('sha256')
    .update(readFileSync(import.meta.filename))
    .digest('hex')
}

/** A path in quotes may be relative to the module, its package, a service or the repository. */
function programsIn(code: string, folder: string): string[] {
  const bases = [
    folder,
    ...parentsOf(folder),
    ...SERVICES.filter((service) => code.includes(path.relative(root, service))),
  ]
  return [...code.matchAll(NAMED_MODULE)].flatMap(([, name = '']) => {
    const base = bases.find((each) => existsSync(path.join(each, name)))
    return base === undefined ? [] : [path.join(base, name)]
  })
}

function parentsOf(folder: string): string[] {
  const parents: string[] = []
  for (let parent = path.dirname(folder); parent.startsWith(root); parent = path.dirname(parent)) parents.push(parent)
  return parents
}
