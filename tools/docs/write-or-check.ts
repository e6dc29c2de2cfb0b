import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')

/** Writes a generated document; with `--check` on the command line it only reports whether the document is up to date. */
export async function writeOrCheck(file: string, fresh: string): Promise<void> {
  if (!process.argv.includes('--check')) {
    await writeFile(file, fresh)
    return
  }
  const current = await readFile(file, 'utf8').catch(() => '')
  if (current === fresh) return
  process.stderr.write(`${path.relative(root, file)} is stale; run npm run generate:docs\n`)
  process.exitCode = 1
}
