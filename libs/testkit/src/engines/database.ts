import { createHash } from 'node:crypto'
import path from 'node:path'
import { migrate, migrationsOf } from '@restante/service/database'
import pg from 'pg'
import { engines } from './engines.ts'
import { randomName } from './random.ts'

export interface TestDatabase {
  readonly name: string
  readonly url: string
  /** Deletes the database, closing any remaining connections. */
  drop(): Promise<void>
}

/** Suites that start together build a template one after another; this is the number of their advisory lock. */
const TEMPLATE_LOCK = 7_263_981_026

/**
 * A new database with every migration of a service applied, including those of its libraries.
 * @param folder the service. The first suite after a change of the migrations builds a template; a copy of it takes
 * about 50 ms.
 */
export function createDatabase(folder: string): Promise<TestDatabase> {
  return administer(async (server) => {
    await server.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK])
    const template = await ensureTemplate(server, folder)
    const name = `test_${path.basename(folder).replaceAll('-', '_')}_${randomName()}`
    await server.query(`create database ${name} template ${template} strategy ${await strategyOf(server)}`)
    return {
      name,
      url: urlOf(name),
      drop: () =>
        administer(async (client) => {
          await client.query(`drop database if exists ${name} with (force)`)
        }),
    }
  })
}

/** Copies of files cost half of the processor time, and checkpoints: much where these are forced to disk. */
async function strategyOf(server: pg.Client): Promise<'file_copy' | 'wal_log'> {
  const { rows } = await server.query<{ fsync: string }>('show fsync')
  return rows[0]?.fsync === 'off' ? 'file_copy' : 'wal_log'
}

async function ensureTemplate(server: pg.Client, folder: string): Promise<string> {
  const prefix = `template_${path.basename(folder).replaceAll('-', '_')}_`
  const name = prefix + (await digestOf(folder))
  const { rows } = await server.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1)',
    [prefix],
  )
  if (rows.some(({ datname }) => datname === name)) return name
  const half = `${name}_half`
  for (const { datname } of rows) await server.query(`drop database ${datname} with (force)`)
  await server.query(`create database ${half}`)
  await migrate({ url: urlOf(half), folder })
  // Renamed last: a template that a crash left half migrated is never used.
  await server.query(`alter database ${half} rename to ${name}`)
  return name
}

async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha256')
  for (const { name, checksum } of await migrationsOf(folder)) hash.update(`${name} ${checksum}\n`)
  return hash.digest('hex').slice(0, 12)
}

/** The URL of a database on the server of the tests. */
export function urlOf(database: string): string {
  const url = new URL(engines.databaseUrl)
  url.pathname = `/${database}`
  return url.href
}

async function administer<T>(work: (server: pg.Client) => Promise<T>): Promise<T> {
  const server = new pg.Client({ connectionString: engines.databaseUrl, application_name: 'testkit' })
  await server.connect()
  try {
    return await work(server)
  } finally {
    await server.end()
  }
}
