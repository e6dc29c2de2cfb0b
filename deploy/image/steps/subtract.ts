import { lstat, readdir, readFile, readlink, rm } from 'node:fs/promises'
import path from 'node:path'

/**
 * `subtract.ts <folder> <lower>`: deletes from a folder what a lower layer of the image has already, so that the layer
 * above holds only the difference.
 */

const same = async (one: string, other: string): Promise<boolean> => {
  const [a, b] = await Promise.all([lstat(one), lstat(other).catch(() => undefined)])
  if (b === undefined || a.mode !== b.mode) return false
  if (a.isSymbolicLink()) return (await readlink(one)) === (await readlink(other))
  return a.isFile() && a.size === b.size && (await readFile(one)).equals(await readFile(other))
}

/** @returns whether the folder is empty now. */
async function subtract(folder: string, lower: string): Promise<boolean> {
  let left = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [file, other] = [path.join(folder, entry.name), path.join(lower, entry.name)]
    const gone = entry.isDirectory() ? await subtract(file, other) : await same(file, other)
    if (gone) await rm(file, { recursive: true })
    left += gone ? 0 : 1
  }
  return left === 0
}

const [folder, lower] = process.argv.slice(2)
if (folder === undefined || lower === undefined) throw new Error('usage: subtract.ts <folder> <lower>')
await subtract(folder, lower)
