import type { Schedule, Timers } from '@restante/jobs'

/** What the gateway does at a time, and what it needs to know to do it. */
export interface GatewayTimerKinds {
  /** Mails a verification code to the human. Key: the code's id. */
  'code-mail': { readonly code_id: string; readonly mail_id: string }
  /** Frees the address of a deleted inbox, once the services that are not in `done` have purged it. Key: its uid. */
  'inbox-purge': { readonly done: readonly string[] }
  /** Takes an organization apart whose deletion has begun. Key: its id. */
  'organization-deletion': Record<string, never>
  /** Begins the deletion of unverified organizations in which nothing happens. One timer, which sets itself anew. */
  'inactive-organizations': Record<string, never>
  /** Removes what has served its time. One timer, which sets itself anew. */
  sweep: Record<string, never>
}

export type GatewayTimers = Timers<GatewayTimerKinds>
/** For whoever sets timers and does not work on them. */
export type GatewaySchedule = Schedule<GatewayTimerKinds>
