import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Starts work at a steady rate, whether or not earlier work has ended, so that a slow system gets the next arrival on
 * time, as from real senders. Resolves when all work has ended.
 */
export async function atRate(perSecond: number, count: number, work: (index: number) => Promise<void>): Promise<void> {
  const began = performance.now()
  const running: Promise<void>[] = []
  for (let index = 0; index < count; index++) {
    const wait = began + (index * 1000) / perSecond - performance.now()
    if (wait > 0) await sleep(wait)
    running.push(work(index))
  }
  await Promise.all(running)
}
