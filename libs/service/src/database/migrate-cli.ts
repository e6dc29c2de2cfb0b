import path from 'node:path'
import { z } from 'zod'
import { ConfigurationError, readEnvironment } from '../configuration/environment.ts'
import { engineVariables } from '../engines/index.ts'
import { messageOf } from '../errors/message-of.ts'
import { databaseUrl } from './access/connection.ts'
import { migrate } from './migrations/migrate.ts'

/**
 * `migrate-cli.ts <service folder>`: migrates the database named by the environment to a service's newest migration.
 */

const environment = z.object({
  DATABASE_URL: databaseUrl(),
  DATABASE_DIRECT_URL: databaseUrl().optional(),
  ...engineVariables.shape,
})

async function main(folder: string | undefined): Promise<void> {
  if (folder === undefined) throw new ConfigurationError(['name a service folder, such as services/gateway'])
  const { DATABASE_URL, DATABASE_DIRECT_URL, ENGINE_CA_FILE } = readEnvironment(environment, process.env)
  const applied = await migrate({
    url: DATABASE_DIRECT_URL ?? DATABASE_URL,
    trust: ENGINE_CA_FILE,
    folder: path.resolve(folder),
    log: (line) => process.stdout.write(`${line}\n`),
  })
  if (applied.length === 0) process.stdout.write('the database is up to date\n')
}

main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
})
