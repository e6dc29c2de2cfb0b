import { trace } from '@opentelemetry/api'
import { type LoggerOptions, type Logger as PinoLogger, pino } from 'pino'

export type Logger = PinoLogger

/** Names of members whose value must never reach a log, wherever they turn up. */
const SECRET_PATHS = [
  'authorization',
  'api_key',
  'apiKey',
  'secret',
  'password',
  'otp_code',
  'token',
  'text',
  'html',
  'subject',
].flatMap((name) => [name, `*.${name}`])

/** Where PostgreSQL quotes the row or the parameter that it refused. */
const ROW_PATHS = ['err.detail', 'err.where', 'err.internalQuery']

/**
 * JSON lines on standard output: `time`, `level`, `service`, `msg`, and the trace and span ids of the work that wrote
 * them. Mail content and secrets are never handed to it; redaction is the second line of defence.
 */
export function createLogger(options: { service: string; level: string }): Logger {
  // A line is out before the call returns: written behind it, the last lines of a process that ends could be passed by
  // later ones, or never come.
  const standardOutput = pino.destination({ dest: 1, sync: true })
  const settings: LoggerOptions = {
    level: options.level,
    base: { service: options.service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: [...SECRET_PATHS, ...ROW_PATHS], censor: '[redacted]' },
    mixin: () => {
      const span = trace.getActiveSpan()?.spanContext()
      return span ? { trace_id: span.traceId, span_id: span.spanId } : {}
    },
  }
  return pino(settings, standardOutput)
}
