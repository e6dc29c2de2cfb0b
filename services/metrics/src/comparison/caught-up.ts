import { hasProcessed, heldRecords, type Kafka } from '@restante/messaging'
import { pause } from '@restante/service/concurrency'
import { UpstreamError } from '@restante/service/errors'
import type { Followed } from '../tenancy/open-tenancy.ts'

const EVERY_MS = 200
const LONGEST_MS = 600_000

/**
 * Waits until consumers have handled everything that is in their topics now: then every event of before has been counted, or
 * is a dead letter.
 * @throws UpstreamError when they do not get there in 10 minutes.
 */
export async function caughtUp(
  kafka: Kafka,
  consumers: readonly Pick<Followed, 'group' | 'topics'>[],
  stopping: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + LONGEST_MS
  const held = await Promise.all(consumers.map(({ topics }) => heldRecords(kafka, topics)))
  for (const [index, { group }] of consumers.entries()) {
    while (!(await hasProcessed(kafka, group, held[index] ?? []))) {
      stopping.throwIfAborted()
      if (Date.now() > deadline) throw new UpstreamError(`${group} is late: totals cannot be compared`)
      await pause(EVERY_MS, stopping)
    }
  }
  stopping.throwIfAborted()
}
