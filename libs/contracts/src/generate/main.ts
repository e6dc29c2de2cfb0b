import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { documents } from './documents.ts'

const DOCS = new URL('../../../../docs/', import.meta.url)

/** Writes the generated documents; with `--check` it only reports stale ones, and fails if there are any. */
async function main(check: boolean): Promise<void> {
  const stale: string[] = []
  for (const [name, content] of Object.entries(documents())) {
    const file = fileURLToPath(new URL(name, DOCS))
    if ((await readFile(file, 'utf8').catch(() => undefined)) === content) continue
    stale.push(`docs/${name}`)
    if (check) continue
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
  process.stdout.write(report(check, stale))
  if (check && stale.length > 0) process.exitCode = 1
}

function report(check: boolean, files: readonly string[]): string {
  if (files.length === 0) return 'Generated documents are up to date.\n'
  return check ? `Stale, run "npm run generate:docs": ${files.join(', ')}\n` : `Written: ${files.join(', ')}\n`
}

await main(process.argv.includes('--check'))
