import type { Schedule, Timers } from '@restante/jobs'

/** The timers of the gateway and their payloads. */
export interface GatewayTimerKinds {
  /** Mails a verification code to the human. Key: the code's id. */
  'code-mail': { readonly code_id: string; readonly mail_id: string }
  /** Frees the address of a deleted inbox, once the services that are not in `done` have purged it. Key: its uid. */
  'inbox-purge': { readonly done: readonly string[] }
  /** Deletes the contents of an organization whose deletion has begun. Key: its id. */
  'organization-deletion': Record<string, never>
  /** Begins the deletion of inactive unverified organizations. One timer, which reschedules itself. */
  'inactive-organizations': Record<string, never>
  /** Deletes sign-in keys that were not proven in time. One timer, which reschedules itself. */
  'pending-sign-in-keys': Record<string, never>
  /** Removes expired rows. One timer, which reschedules itself. */
  sweep: Record<string, never>
}

export type GatewayTimers = Timers<GatewayTimerKinds>
/** For code that sets timers and does not work on them. */
export type GatewaySchedule = Schedule<GatewayTimerKinds>
