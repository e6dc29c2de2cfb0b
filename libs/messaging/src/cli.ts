import { commonEnvironment, createLogger, readEnvironment } from '@restante/service'
import { Kafka } from './kafka.ts'

const environment = commonEnvironment.pick({
  KAFKA_BROKERS: true,
  KAFKA_SSL: true,
  KAFKA_SASL_USERNAME: true,
  KAFKA_SASL_PASSWORD: true,
  KAFKA_SASL_MECHANISM: true,
  KAFKA_REPLICATION: true,
  KAFKA_MIN_INSYNC_REPLICAS: true,
  TOPIC_PREFIX: true,
})

/**
 * The Kafka client configured by the environment, with the same variables as the services. Exits when they are invalid.
 */
export function kafkaFromEnvironment(clientId: string): Kafka {
  try {
    const given = readEnvironment(environment, process.env)
    const { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password, KAFKA_SASL_MECHANISM: mechanism } = given
    return new Kafka({
      clientId,
      brokers: given.KAFKA_BROKERS,
      ssl: given.KAFKA_SSL,
      sasl: username !== undefined && password !== undefined ? { mechanism, username, password } : undefined,
      replication: given.KAFKA_REPLICATION,
      minInsyncReplicas: given.KAFKA_MIN_INSYNC_REPLICAS,
      topicPrefix: given.TOPIC_PREFIX,
      log: createLogger({ service: clientId, level: 'silent' }),
    })
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

/** Writes one or more lines to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

export function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

/** Columns as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
