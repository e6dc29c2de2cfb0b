/** The engines that tests run on: named by the environment, otherwise those of `npm run engines`. */
export const engines = {
  /** A superuser of PostgreSQL, because every suite creates databases of its own. */
  databaseUrl: process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres',
  redisUrl: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:63799',
  kafkaBrokers: (process.env['KAFKA_BROKERS'] ?? '127.0.0.1:19092').split(','),
} as const
