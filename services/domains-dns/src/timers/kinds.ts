type NoPayload = Record<string, never>

/** Every kind of timer of this service. */
export interface DomainTimers {
  /** By the uid of a registration: a check by the schedule (domains 7.2), at the pace that all of them share. */
  readonly 'domain-check': NoPayload
  /**
   * By the uid of a registration: the first check, and that of an owner who waits for it. Made at once; it schedules the
   * next 'domain-check'.
   */
  readonly 'domain-verify': NoPayload
  /** By registered name, so that no two orders run for one host at a time, on however many replicas. */
  readonly certificate: NoPayload
  /** By the id of the revocation. */
  readonly 'certificate-revocation': NoPayload
}
