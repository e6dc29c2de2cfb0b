import type { Logger } from '@restante/service/telemetry'
import kafkajs, { type LogEntry, type logCreator } from 'kafkajs'

/** Logged at every start of the producers here, whose retries are limited on purpose: see `Kafka.producer`. */
const EXPECTED = /Limiting retries for the idempotent producer/

/**
 * Writes the client's log lines to the service's log, one level lower: its information (joins, pauses) is for
 * debugging, and its errors (a broker restarting) are warnings, because it retries by itself.
 */
export function kafkaLogCreator(log: Logger): logCreator {
  return () => (entry: LogEntry) => {
    const { message, timestamp: _, stack: __, error, ...details } = entry.log
    if (EXPECTED.test(message)) return
    const fields = {
      kafka: { namespace: entry.namespace, ...details, ...(error !== undefined && { error: String(error) }) },
    }
    switch (entry.level) {
      case kafkajs.logLevel.ERROR:
      case kafkajs.logLevel.WARN:
        log.warn(fields, message)
        return
      default:
        log.debug(fields, message)
    }
  }
}
