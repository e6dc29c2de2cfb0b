import { join } from 'node:path'
import { migrate } from '@restante/service/database'
import pg from 'pg'
import { say } from './progress.ts'
import { root } from './settings.ts'

/** The database of a service in this PostgreSQL. */
export function databaseUrl(server: string, service: string): string {
  const url = new URL(server)
  url.pathname = `/restante_${service.replaceAll('-', '_')}`
  return url.href
}

/** One database per service, created when missing and migrated to the newest migration. */
export async function prepareDatabases(server: string, services: readonly string[]): Promise<void> {
  await createDatabases(server, services)
  for (const service of services) await migrateDatabase(server, service)
}

/** One database per service, created when missing. */
export async function createDatabases(server: string, services: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: server, application_name: 'restante-local' })
  await client.connect()
  try {
    for (const service of services) await createDatabase(client, databaseUrl(server, service))
  } finally {
    await client.end()
  }
}

async function createDatabase(client: pg.Client, url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
  if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`)
}

async function migrateDatabase(server: string, service: string): Promise<void> {
  const applied = await migrate({ url: databaseUrl(server, service), folder: join(root, 'services', service) })
  if (applied.length > 0) say(`Database of ${service}: applied ${applied.join(', ')}`)
}
