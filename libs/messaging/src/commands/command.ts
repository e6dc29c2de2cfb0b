import { ConfigurationError, readEnvironment } from '@restante/service/configuration'
import { messageOf } from '@restante/service/errors'
import { createLogger } from '@restante/service/telemetry'
import { kafkaConfiguration, kafkaProblems, kafkaVariables } from '../kafka/configuration.ts'
import { Kafka } from '../kafka/kafka.ts'

/**
 * The Kafka client configured by the environment, with the same variables as the services. Exits when they are invalid.
 */
export function kafkaFromEnvironment(clientId: string): Kafka {
  try {
    const given = readEnvironment(kafkaVariables, process.env)
    const problems = kafkaProblems(given)
    if (problems.length > 0) throw new ConfigurationError(problems)
    return new Kafka({
      ...kafkaConfiguration(given),
      clientId,
      log: createLogger({ service: clientId, level: 'silent' }),
    })
  } catch (error) {
    return fail(messageOf(error))
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
