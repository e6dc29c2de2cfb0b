export { createLogger, type Logger } from './logger.ts'
export { isTelemetryMissing, startTelemetry, stopTelemetry } from './tracing.ts'
