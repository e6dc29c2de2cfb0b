/**
 * Loaded before the modules of a program (`node --import`, as `bin/service-node` does it): OpenTelemetry instruments
 * modules before others import their functions from them.
 */
import { startTelemetry } from './tracing.ts'

await startTelemetry(process.env)
