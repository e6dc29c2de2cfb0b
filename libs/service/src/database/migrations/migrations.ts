import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'

/** One step of a database's schema, as a file. */
export interface Migration {
  /** The name of its folder, for a library's preceded by the package: `@restante/jobs/20260101000000_init`. */
  readonly name: string
  /** The library that brings it; undefined for the package's own. */
  readonly library: string | undefined
  readonly text: string
  readonly checksum: string
}

const manifest = z.object({ dependencies: z.record(z.string(), z.string()).default({}) })

/**
 * All migrations of a package's database, in the order in which they apply: first those of the libraries of this
 * repository that its `package.json` depends on, for their tables are part of its database, then its own.
 * @param folder the package: a service (`prisma/migrations`) or a library (`migrations`).
 */
export async function migrationsOf(folder: string): Promise<Migration[]> {
  const ofLibraries = await Promise.all(
    (await librariesOf(folder)).map((name) => read(path.join(folder, 'node_modules', name, 'migrations'), name)),
  )
  const ofService = await read(path.join(folder, 'prisma/migrations'))
  return [...ofLibraries.flat(), ...ofService, ...(await read(path.join(folder, 'migrations')))]
}

/** The two parts of a migration's name: the library, undefined for the package's own, and the folder. */
export function shortNameOf(name: string): { readonly library: string | undefined; readonly shortName: string } {
  const end = name.lastIndexOf('/')
  return { library: end === -1 ? undefined : name.slice(0, end), shortName: name.slice(end + 1) }
}

/** The libraries of this repository that a package depends on, by name. */
async function librariesOf(folder: string): Promise<string[]> {
  const file = path.join(folder, 'package.json')
  if (!existsSync(file)) return []
  const { dependencies } = manifest.parse(JSON.parse(await readFile(file, 'utf8')))
  const names = Object.keys(dependencies).filter((name) => dependencies[name]?.startsWith('workspace:'))
  return names.sort()
}

async function read(directory: string, library?: string): Promise<Migration[]> {
  if (!existsSync(directory)) return []
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const text = await readFile(path.join(directory, name, 'migration.sql'), 'utf8')
      const checksum = createHash('sha256').update(text).digest('hex')
      return { name: library === undefined ? name : `${library}/${name}`, library, text, checksum }
    }),
  )
}
