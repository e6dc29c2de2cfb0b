import { getHeapStatistics } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import type { ThreadAnswer, ThreadRequest } from './protocol.ts'

/** Answers the requests of a lane, in a thread of its own. Whatever `read` throws ends the thread. */
export function serve<Limits, Sent>(read: (raw: Buffer, limits: Limits) => Sent | Promise<Sent>): void {
  parentPort?.on('message', async ({ raw, limits }: ThreadRequest<Limits>) => {
    answer({ read: await read(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), limits) })
  })
  // What only loading needed goes back, half of what a thread holds by then; `service-node` lets it be called.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  answer({})
}

function answer<Sent>(what: Pick<ThreadAnswer<Sent>, 'read'>): void {
  const { user, system } = process.threadCpuUsage()
  const answered = { ...what, heap: getHeapStatistics().total_heap_size, cpuMs: (user + system) / 1_000 }
  parentPort?.postMessage(answered satisfies ThreadAnswer<Sent>)
}
