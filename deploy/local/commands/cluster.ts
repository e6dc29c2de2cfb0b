import { join } from 'node:path'
import { runNode } from '../node-program.ts'
import { root } from '../settings.ts'

/** `npm run test:cluster`: the chart on a real Kubernetes. The arguments are those of test-e2e/cluster, see its README.md. */
export function cluster(args: readonly string[]): Promise<number> {
  const interrupted = new AbortController()
  // The program takes the cluster down before it ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
  return runNode([join(root, 'test-e2e/cluster/main.ts'), ...args], process.env, interrupted.signal)
}
