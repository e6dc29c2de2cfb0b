import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { root } from '@restante/local/settings.ts'
import { describeAtFullLength, engines } from '@restante/testkit'
import { lastRelease } from '@restante/tools/releases/releases.ts'
import type { Sources } from '../stack/sources.ts'
import { INSTALL_TIMEOUT, releasedSources } from './released-sources.ts'

const release = await lastRelease()
const OUTSIDE = '-- outside a transaction'

describeAtFullLength({ programs: [] }, `every statement of ${release.version}`, () => {
  /** A copy of that release whose migrations are those of the present one. */
  let sources: Sources
  beforeAll(async () => {
    sources = await releasedSources(release, 'on-present-schema')
    await takePresentMigrations()
  }, INSTALL_TIMEOUT)

  async function takePresentMigrations(): Promise<void> {
    for (const name of Object.keys(release.migrations)) {
      const [from, to] = [root, sources.folder].map((folder) => path.join(folder, migrationsOf(name)))
      if (from === undefined || to === undefined) throw new Error('two folders are expected')
      await rm(to, { recursive: true, force: true })
      await cp(from, to, { recursive: true })
      await buildIndexesAtOnce(to)
    }
  }

  /** The release applies a file as one transaction. An empty table gets the same index without `concurrently`. */
  async function buildIndexesAtOnce(folder: string): Promise<void> {
    for await (const file of glob(path.join(folder, '*/migration.sql'))) {
      const text = await readFile(file, 'utf8')
      if (text.startsWith(OUTSIDE)) await writeFile(file, text.replaceAll(/ concurrently\b/gi, ''))
    }
  }

  function migrationsOf(name: string): string {
    return path.join(name, name.startsWith('services/') ? 'prisma/migrations' : 'migrations')
  }

  const check = () => sources.run('tools/statements/check.ts', [], { DATABASE_URL: engines.databaseUrl })

  it('is prepared by PostgreSQL on the present schema, with the types that the release expects', async () => {
    expect(await check()).toMatch(/^\d+ statements fit the schema\n$/)
  }, 300_000)

  it('is found by this test when the present schema has another name for one of its columns', async () => {
    const breaking = path.join(sources.folder, migrationsOf('services/mail-send'), '20991231000000_breaking')
    await mkdir(breaking)
    await writeFile(path.join(breaking, 'migration.sql'), 'alter table sends rename column message_id to id_of_message')
    await expect(check()).rejects.toThrow(/services\/mail-send\/src\/.*message_id/)
    await rm(breaking, { recursive: true })
  }, 300_000)
})
