import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { chartFiles } from './files.ts'
import { root } from './root.ts'

/**
 * Writes what the chart and the operator's command line know of the code: part of `npm run generate:docs`. With `--check`
 * it only reports stale files, and fails if there are any.
 */
async function main(isCheck: boolean): Promise<void> {
  const stale: string[] = []
  for (const [name, content] of Object.entries(await chartFiles())) {
    const file = path.join(root, name)
    if ((await readFile(file, 'utf8').catch(() => undefined)) === content) continue
    stale.push(name)
    if (isCheck) continue
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, content)
  }
  if (stale.length === 0) process.stdout.write('The files of the chart are up to date.\n')
  else if (!isCheck) process.stdout.write(`Written: ${stale.join(', ')}\n`)
  else {
    process.stderr.write(`Stale, run "npm run generate:docs": ${stale.join(', ')}\n`)
    process.exitCode = 1
  }
}

await main(process.argv.includes('--check'))
// Services that were composed hold threads and timers, which only a start and a stop would end.
process.exit()
