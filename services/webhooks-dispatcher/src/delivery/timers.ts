import type { WarningTimerKinds } from '../warnings/warnings.ts'

/** Kinds of timers of this service and their payloads; the key of a delivery's timer is the delivery's id. */
export interface TimerKinds extends WarningTimerKinds {
  readonly 'webhook-delivery': Record<string, never>
}
