/** The engines that tests run on: named by the environment, otherwise those of `npm run engines`. */
export const engines = {
  /** A superuser of PostgreSQL, because every suite creates databases of its own. */
  databaseUrl: process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres',
  redisUrl: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:63799',
  kafkaBrokers: (process.env['KAFKA_BROKERS'] ?? '127.0.0.1:19092').split(','),
} as const

/** The PgBouncer in front of PostgreSQL, in transaction mode, that services of this run use; by default none. */
const POOLER_URL = process.env['RESTANTE_TEST_POOLER_URL']

/** The variables of a service for a database of the tests. */
export function databaseEnvironment(url: string): Record<string, string> {
  if (POOLER_URL === undefined) return { DATABASE_URL: url }
  const pooled = new URL(POOLER_URL)
  pooled.pathname = new URL(url).pathname
  return { DATABASE_URL: pooled.href, DATABASE_DIRECT_URL: url, DATABASE_PREPARED_STATEMENTS: 'false' }
}
