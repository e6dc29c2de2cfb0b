export { createLogger, type Logger } from './logger.ts'
export { collectProcessMetrics, type DeclaredMetric, declaredMetric, declaredMetrics } from './process-metrics.ts'
export { currentTraceparent, inSpan, WorkSpan, withoutTrace } from './spans.ts'
export { isTelemetryMissing, startTelemetry, stopTelemetry } from './tracing.ts'
