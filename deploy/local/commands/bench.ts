import { join } from 'node:path'
import { root } from '../settings.ts'
import { runOnEngines } from './on-engines.ts'

/** `npm run bench`: measures on the real engines. The arguments are those of test-e2e/bench, see its README.md. */
export function bench(args: readonly string[]): Promise<number> {
  return runOnEngines([[join(root, 'test-e2e/bench/main.ts'), ...args]])
}
