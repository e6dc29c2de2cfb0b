import { isInfrastructureError, type Logger } from '@restante/service'
import { InvalidRecordError } from '../envelope.ts'
import { backoff, pause } from '../pause.ts'
import { retried } from '../telemetry.ts'

/** The partition was revoked, or the consumer stops, before the work was done: it stays for the next owner. */
export class RevokedError extends Error {
  override readonly name = 'RevokedError'
}

/** Where work happens: a partition that can be held while the infrastructure is down, until it is revoked. */
export interface Place {
  readonly signal: AbortSignal
  /** Keeps the partition from being fetched until the returned function is called. */
  hold(): () => void
}

export interface Policy {
  readonly log: Logger
  readonly group: string
  /** How often a deterministic failure is tried in all. */
  readonly attempts: number
  /** Waits between attempts in milliseconds, first and longest. */
  readonly deterministic: { readonly first: number; readonly most: number }
  readonly infrastructure: { readonly first: number; readonly most: number }
}

const TELL_EVERY = 20

export type Tried<T> =
  | { readonly done: true; readonly value: T; readonly attempt: number }
  | { readonly done: false; readonly error: unknown; readonly attempt: number }

/**
 * Does work until it succeeds or is known to be hopeless. Failures of the infrastructure are waited out without limit;
 * an invalid record is hopeless at once; any other failure is after the policy's attempts.
 * @throws RevokedError when the place is taken away first.
 */
export async function tryWork<T>(policy: Policy, place: Place, work: () => Promise<T>): Promise<Tried<T>> {
  let failures = 0
  for (let attempt = 1; ; attempt++) {
    if (place.signal.aborted) throw new RevokedError('revoked')
    try {
      return { done: true, value: await work(), attempt }
    } catch (error) {
      if (isInfrastructureError(error)) {
        retried.inc({ group: policy.group, class: 'infrastructure' })
        tell(policy, attempt - failures, error)
        await waitOut(place, backoff(attempt - failures, policy.infrastructure.first, policy.infrastructure.most))
        continue
      }
      failures++
      if (error instanceof InvalidRecordError || failures >= policy.attempts) return { done: false, error, attempt }
      retried.inc({ group: policy.group, class: 'deterministic' })
      await pause(backoff(failures, policy.deterministic.first, policy.deterministic.most), place.signal)
    }
  }
}

/** The first time, and then at times: a partition that waits for ever must not do so in silence. */
function tell({ group, log }: Policy, times: number, error: unknown): void {
  if (times % TELL_EVERY !== 1) return
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  log.warn(
    { group, times, name: error instanceof Error ? error.name : typeof error, code },
    'waits for the infrastructure',
  )
}

async function waitOut(place: Place, ms: number): Promise<void> {
  const release = place.hold()
  await pause(ms, place.signal)
  release()
}
