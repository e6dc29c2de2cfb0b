import { type ScheduledTimer, shareOfOrganization } from '@restante/jobs'
import type { WarningTimerKinds } from '../warnings/warnings.ts'

/** Kinds of timers of this service and their payloads; the key of a delivery's timer is the delivery's id. */
export interface TimerKinds extends WarningTimerKinds {
  readonly 'webhook-delivery': Record<string, never>
}

/** The timer of the first attempt of a delivery, due now. A backlog of one organization delays few others. */
export function firstAttempt(deliveryId: string, organizationId: string): ScheduledTimer<TimerKinds> {
  return { kind: 'webhook-delivery', key: deliveryId, payload: {}, share: shareOfOrganization(organizationId) }
}
