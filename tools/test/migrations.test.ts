import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { STORING_SERVICES } from '@restante/contracts/vocabulary'

const root = resolve(import.meta.dirname, '../..')

/** Runs `npm run migrations:check` for some packages; for none, it checks each that has a schema. */
async function check(...folders: string[]): Promise<{ agrees: boolean; output: string }> {
  const run = promisify(execFile)(process.execPath, [join(root, 'tools/prisma/check.ts'), ...folders])
  return run.then(
    ({ stdout }) => ({ agrees: true, output: stdout }),
    (failure) => ({ agrees: false, output: `${failure.stdout}${failure.stderr}` }),
  )
}

async function withPackage<T>(schema: string, migration: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'restante-migrations-'))
  try {
    await mkdir(join(folder, 'prisma/migrations/20260101000000_init'), { recursive: true })
    await writeFile(join(folder, 'prisma/schema.prisma'), schema)
    await writeFile(join(folder, 'prisma/migrations/20260101000000_init/migration.sql'), migration)
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const schema = `datasource db {
  provider = "postgresql"
}
enum Kind {
  note
  letter
}
model Entry {
  id    String   @id @db.Uuid
  kind  Kind
  words String[]
  at    DateTime @default(now()) @db.Timestamptz(3)
  @@index([at])
  @@map("entries")
}
`

const migration = `create type "Kind" as enum ('note', 'letter');
create table entries (id uuid primary key, kind "Kind" not null, words text[], at timestamptz(3) not null default now());
create index entries_at_idx on entries (at);
-- What Prisma cannot express is no difference.
create index entries_letters on entries (id) where kind = 'letter';
alter table entries add check (cardinality(words) < 10);
`

describe('the check of migrations against schema.prisma', () => {
  describe('of all packages', () => {
    let all: { agrees: boolean; output: string }
    beforeAll(async () => {
      all = await check()
    })

    it.each(STORING_SERVICES)('finds no difference in %s', (service) => {
      expect(all.output.split('\n')).toContain(`services/${service}: migrations and schema.prisma agree`)
    })

    it('has checked no others, and exits without an error', () => {
      expect(all.output.trimEnd().split('\n')).toHaveLength(STORING_SERVICES.length)
      expect(all.agrees).toBe(true)
    })
  })

  it('accepts migrations that result in the schema', async () => {
    expect(await withPackage(schema, migration, check)).toMatchObject({ agrees: true })
  })

  it('names the missing SQL when the schema has more than the migrations', async () => {
    const more = schema.replace('words ', 'title String\n  words ')
    const { agrees, output } = await withPackage(more, migration, check)
    expect(agrees).toBe(false)
    expect(output).toContain('ADD COLUMN     "title" TEXT NOT NULL')
  })
})
