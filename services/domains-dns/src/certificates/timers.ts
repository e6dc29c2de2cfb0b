import type { Schedule } from '@restante/jobs'

type NoPayload = Record<string, never>

/** The timers of certificates. */
export interface CertificateTimers {
  /** By registered name: so no two orders run for one host at a time, on however many replicas. */
  certificate: NoPayload
  /** By the id of the revocation. */
  'certificate-revocation': NoPayload
}

export type CertificateSchedule = Pick<
  Schedule<CertificateTimers>,
  'schedule' | 'scheduleAll' | 'scheduleIfMissing' | 'cancelIdle'
>
