import type { WarningTimerKinds } from '../warnings/warnings.ts'

/** Kinds of timers of this service and their payloads; the key of a delivery's timer is the delivery's id. */
export interface TimerKinds extends WarningTimerKinds {
  /** `traceparent`: of the event, whose trace the request continues. */
  readonly 'webhook-delivery': { readonly traceparent?: string }
}
