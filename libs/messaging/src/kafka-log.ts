import type { Logger } from '@restante/service'
import kafkajs, { type LogEntry, type logCreator } from 'kafkajs'

/** Said at every start of our producers, whose retries are limited on purpose: see `Kafka.producer`. */
const EXPECTED = /Limiting retries for the idempotent producer/

/**
 * The client's own log lines among ours, one step quieter: what it calls information (joins, pauses) is for debugging,
 * and what it calls an error (a broker restarting) is a warning, because it tries again by itself.
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
