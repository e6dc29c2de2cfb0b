import { join } from 'node:path'
import { root } from '../settings.ts'
import { runOnEngines } from './on-engines.ts'

/** `npm run observe`: draws the overview and the trace of a mail from a running system. */
export function observe(): Promise<number> {
  return runOnEngines([[join(root, 'deploy/observability/record/main.ts')]])
}
