import { type BackoffPolicy, jitteredBackoff, pause } from '@restante/service/concurrency'
import { isInfrastructureError } from '@restante/service/errors'
import type { Logger } from '@restante/service/telemetry'
import { InvalidRecordError } from '../kafka/envelope.ts'
import { retried } from '../kafka/telemetry.ts'

/** The partitions were revoked, or the consumer is stopping, before the work was done: the next owner does it. */
export class RevokedError extends Error {
  override readonly name = 'RevokedError'
}

/** The partitions of the records in progress. They can be paused while the infrastructure is down, until they are revoked. */
export interface PausablePartitions {
  readonly signal: AbortSignal
  /** Pauses fetching from them until the returned function is called. */
  pause(): () => void
}

export interface Policy {
  readonly log: Logger
  readonly group: string
  /** How many attempts a deterministic failure gets in total. */
  readonly attempts: number
  readonly deterministic: BackoffPolicy
  readonly infrastructure: BackoffPolicy
}

const LOG_EVERY = 20

export type Tried<T> =
  | { readonly done: true; readonly value: T; readonly attempt: number }
  | { readonly done: false; readonly error: unknown; readonly attempt: number }

/**
 * Runs work until it succeeds or has failed permanently. Infrastructure failures are retried without limit. An invalid
 * record fails permanently at once; any other failure is permanent after the attempts of the policy.
 * @throws RevokedError when the partitions are revoked first.
 */
export async function tryWork<T>(
  policy: Policy,
  partitions: PausablePartitions,
  work: () => Promise<T>,
): Promise<Tried<T>> {
  let failures = 0
  for (let attempt = 1; ; attempt++) {
    if (partitions.signal.aborted) throw new RevokedError('revoked')
    try {
      return { done: true, value: await work(), attempt }
    } catch (error) {
      if (isInfrastructureError(error)) {
        retried.inc({ group: policy.group, class: 'infrastructure' })
        logRetry(policy, attempt - failures, error)
        await pauseFetching(partitions, jitteredBackoff(attempt - failures, policy.infrastructure))
        continue
      }
      failures++
      if (error instanceof InvalidRecordError || failures >= policy.attempts) return { done: false, error, attempt }
      retried.inc({ group: policy.group, class: 'deterministic' })
      await pause(jitteredBackoff(failures, policy.deterministic), partitions.signal)
    }
  }
}

/**
 * Logged for the first failure, and then now and again: a partition that waits indefinitely must not do so silently.
 */
function logRetry({ group, log }: Policy, times: number, error: unknown): void {
  if (times % LOG_EVERY !== 1) return
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  log.warn(
    { group, times, name: error instanceof Error ? error.name : typeof error, code },
    'infrastructure failure, partition paused and retrying',
  )
}

async function pauseFetching(partitions: PausablePartitions, ms: number): Promise<void> {
  const release = partitions.pause()
  await pause(ms, partitions.signal)
  release()
}
