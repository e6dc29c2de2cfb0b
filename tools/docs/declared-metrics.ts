/** Prints the metrics that the modules of a service declare, as JSON: `declared-metrics.ts <service>`. */
import path from 'node:path'
import { declaredMetrics } from '@restante/service/telemetry'

const [service = ''] = process.argv.slice(2)
await import(path.resolve(import.meta.dirname, '../../services', service, 'src/main.ts'))
process.stdout.write(JSON.stringify(declaredMetrics()))
