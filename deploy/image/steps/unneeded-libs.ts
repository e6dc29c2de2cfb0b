import path from 'node:path'
import type { Package } from './installed.ts'

/**
 * The libs that a package of ours does not depend on, neither directly nor through others. A lib may be needed and have no
 * `node_modules` of its own, because it depends on nothing.
 * @param packages by their folder. @param entry the folder of the package.
 * @returns their folders
 */
export function unneededLibs(packages: ReadonlyMap<string, Package>, entry: string): string[] {
  const needed = new Set([entry])
  // A set grows while it is walked through.
  for (const folder of needed) for (const dependency of packages.get(folder)?.dependencies ?? []) needed.add(dependency)
  const isLib = (folder: string) => path.basename(path.dirname(folder)) === 'libs'
  return [...packages]
    .filter(([folder, { ours }]) => ours && isLib(folder) && !needed.has(folder))
    .map(([folder]) => folder)
}
