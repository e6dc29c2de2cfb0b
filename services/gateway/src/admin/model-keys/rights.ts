import type { Permission } from '@restante/contracts/access'

/** What every key for a model may do: read what its inbox holds, without the mail that is kept apart. */
const READING = [
  'inbox_read',
  'message_read',
  'draft_read',
  'calendar_read',
  'calendar_event_read',
] as const satisfies readonly Permission[]

/**
 * What a key for a model may do beyond reading, by what an operator asks for. Reading spam and mail of blocked or
 * unauthenticated senders is not among it, because that mail is the likeliest to carry instructions for a model; nor is
 * anything that outlives a conversation: keys, webhooks, lists, settings of the inbox.
 */
const FURTHER = {
  /** A person reads a draft before it is sent. Changing one is not included: what was read is what is sent. */
  drafts: ['draft_create'],
  /** Marking as read, filing, moving to the trash: a person can undo all of it. */
  labels: ['message_update'],
  /** Writing to anyone. A bearer key cannot be limited to replies (identity 4.1). */
  send: ['message_send', 'draft_update', 'draft_send'],
  /** Invitations and answers to them are mails. */
  calendar: ['calendar_event_create', 'calendar_event_update', 'calendar_event_delete'],
  /** For good. */
  delete: ['message_delete', 'draft_delete'],
} as const satisfies Record<string, readonly Permission[]>

export type Further = keyof typeof FURTHER

export const FURTHER_RIGHTS: readonly string[] = Object.keys(FURTHER)
/** What stays inside the installation and can be undone. */
export const DEFAULT_RIGHTS: readonly Further[] = ['drafts', 'labels']

export function isFurther(name: string): name is Further {
  return Object.hasOwn(FURTHER, name)
}

/** The permissions of a key for a model. */
export function permissionsOf(further: readonly Further[]): Permission[] {
  return [...new Set([...READING, ...further.flatMap((name): readonly Permission[] => FURTHER[name])])]
}
