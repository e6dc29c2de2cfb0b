import { readdir, readFile, realpath } from 'node:fs/promises'
import path from 'node:path'

/** A package as it is installed, or one of ours. */
export interface Package {
  readonly name: string
  readonly version: string
  /** An SPDX expression. Undefined: its package.json names none. */
  readonly license: string | undefined
  readonly ours: boolean
  readonly patched: boolean
  /** Folders of the packages that it depends on and that are installed. */
  readonly dependencies: readonly string[]
}

/**
 * Finds what is installed below a folder: packages of ours in `libs` and `services`, and what pnpm has put below
 * `node_modules`, each in a folder of its own with links to its dependencies beside it.
 *
 * @returns the packages by their folder
 */
export async function installedPackages(root: string): Promise<Map<string, Package>> {
  const found = new Map<string, Package>()
  for (const parent of ['libs', 'services']) {
    for (const name of await foldersIn(path.join(root, parent))) {
      const folder = await realpath(path.join(root, parent, name))
      await add(found, folder, path.join(folder, 'node_modules'), { ours: true, patched: false })
    }
  }
  const store = path.join(root, 'node_modules/.pnpm')
  for (const entry of await foldersIn(store)) {
    const modules = path.join(store, entry, 'node_modules')
    for (const name of await namesIn(modules, (item) => item.isDirectory())) {
      const folder = await realpath(path.join(modules, name))
      await add(found, folder, modules, { ours: false, patched: entry.includes('patch_hash=') })
    }
  }
  return found
}

type Item = { readonly name: string; isDirectory(): boolean; isSymbolicLink(): boolean }

async function add(
  found: Map<string, Package>,
  folder: string,
  modules: string,
  about: Pick<Package, 'ours' | 'patched'>,
): Promise<void> {
  const manifest = await readFile(path.join(folder, 'package.json'), 'utf8').catch(() => undefined)
  if (manifest === undefined) return
  const { name, version, license } = JSON.parse(manifest)
  const links = await namesIn(modules, (item) => item.isSymbolicLink())
  // A link to what a development dependency would be leads nowhere.
  const targets = await Promise.all(links.map((link) => realpath(path.join(modules, link)).catch(() => undefined)))
  found.set(folder, {
    name,
    version,
    license: typeof license === 'string' ? license : undefined,
    ...about,
    dependencies: targets.filter((target) => target !== undefined),
  })
}

const itemsIn = (folder: string): Promise<Item[]> => readdir(folder, { withFileTypes: true }).catch(() => [])

const foldersIn = async (folder: string): Promise<string[]> =>
  (await itemsIn(folder)).filter((item) => item.isDirectory()).map((item) => item.name)

/** The names of packages in a `node_modules` folder, scoped ones included. */
async function namesIn(modules: string, wanted: (item: Item) => boolean): Promise<string[]> {
  const names: string[] = []
  for (const item of await itemsIn(modules)) {
    if (item.name.startsWith('@')) {
      const scoped = await itemsIn(path.join(modules, item.name))
      names.push(...scoped.filter(wanted).map(({ name }) => `${item.name}/${name}`))
    } else if (!item.name.startsWith('.') && wanted(item)) {
      names.push(item.name)
    }
  }
  return names
}
