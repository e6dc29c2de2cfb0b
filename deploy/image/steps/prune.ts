import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { isUnused } from './unused-files.ts'

/** `prune.ts <folder>`: deletes the files of installed packages that no process reads, and the package manager's notes. */

/** What pnpm notes about an installation: it has the time in it, and nothing reads it in an image. */
const NOTES = /(^|\/)node_modules\/(\.modules\.yaml|\.pnpm-workspace-state[^/]*|\.pnpm\/lock\.yaml)$/

const [folder = '.'] = process.argv.slice(2)
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  const file = path.join(entry.parentPath, entry.name)
  if (entry.isFile() && file.includes('node_modules/') && (isUnused(file) || NOTES.test(file))) await rm(file)
}
