// `npm run migrations:check`: checks that the migrations of every package with a schema.prisma result in that schema.
import { glob } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { missingSql } from './scratch.ts'

const root = resolve(import.meta.dirname, '../..')
const named = process.argv.slice(2)
const schemas = await Array.fromAsync(glob('services/*/prisma/schema.prisma', { cwd: root }))
const packages = named.length > 0 ? named : schemas.map((schema) => dirname(dirname(schema))).sort()

for (const folder of packages) {
  const sql = await missingSql(resolve(root, folder))
  const shown = relative(root, resolve(root, folder))
  if (sql === '') {
    process.stdout.write(`${shown}: migrations and schema.prisma agree\n`)
    continue
  }
  process.exitCode = 1
  process.stdout.write(`${shown}: after all migrations, schema.prisma still requires:\n\n${sql}\n\n`)
}
