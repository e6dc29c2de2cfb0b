import { serve } from '../worker/serve.ts'
import type { DmarcLimits } from './aggregate-report.ts'
import { readAggregate } from './read-aggregate.ts'

// In an object, because an answer without content says that the thread is ready.
serve(async (bytes: Buffer, limits: DmarcLimits) => ({ report: await readAggregate(bytes, limits) }))
