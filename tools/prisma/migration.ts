// `npm run migration -- <service> <name>`: writes the SQL that brings the last migration to the current schema.prisma.
// Read and edit it before committing: what Prisma cannot express (partial indexes, checks) is written by hand.
import { access, mkdir, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { missingSql, schemaOf } from './scratch.ts'

const root = resolve(import.meta.dirname, '../..')

function fail(text: string): never {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

const [service, name] = process.argv.slice(2)
if (!service || !name) fail('Usage: npm run migration -- <service> <name>, for example: mail-send add_drafts')
if (!/^[a-z0-9_]+$/.test(name)) fail(`'${name}': a name has lower-case letters, digits and _ only`)
const folder = join(root, 'services', service)
const schema = schemaOf(folder)
await access(schema).catch(() => fail(`There is no ${relative(root, schema)}`))

const sql = await missingSql(folder).catch((error) => fail(error instanceof Error ? error.message : String(error)))
if (sql === '') fail(`${service}: migrations and schema.prisma agree, there is nothing to write`)
const timestamp = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)
const file = join(folder, 'prisma/migrations', `${timestamp}_${name}`, 'migration.sql')
await mkdir(join(file, '..'), { recursive: true })
await writeFile(file, `${sql}\n`)
process.stdout.write(`${relative(root, file)}\n`)
