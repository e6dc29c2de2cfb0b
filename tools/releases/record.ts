// `npm run release:record`: writes tools/releases/<version>.json, what the commit that is checked out promises to the
// releases before and after it. Run it on the commit that is released, and commit the file after it.
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { VERSION } from '@restante/contracts/vocabulary'
import { promisesOf } from './promises.ts'

const root = resolve(import.meta.dirname, '../..')
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
const file = join(import.meta.dirname, `${VERSION}.json`)
await writeFile(file, `${JSON.stringify({ version: VERSION, commit, ...(await promisesOf(root)) }, null, 2)}\n`)
process.stdout.write(`${file}\n`)
