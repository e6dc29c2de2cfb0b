/** Kinds of timers of this service and their payloads; the key of a delivery's timer is the delivery's id. */
export interface TimerKinds {
  readonly 'webhook-delivery': Record<string, never>
}
