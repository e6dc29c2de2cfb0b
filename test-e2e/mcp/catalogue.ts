import type { OperationId } from '@restante/contracts/operations'
import type { Tier } from '@restante/contracts/vocabulary'
import type { Names } from '../support/organizations.ts'

/** Flags of the annotations that are true: read-only, destructive, idempotent, open world. */
type Hints = '' | 'RI' | 'RIO' | 'DI' | 'DO' | 'D'

/**
 * The public catalogue in its order (mcp 2), written by hand as a second source: names, titles and annotations on which
 * agents, prompts and the dialogs of their programs rely.
 */
export const PUBLIC_TOOLS: readonly (readonly [name: string, title: string, hints: Hints])[] = [
  ['list_inboxes', 'List Inboxes', 'RI'],
  ['get_inbox', 'Get Inbox', 'RI'],
  ['create_inbox', 'Create Inbox', ''],
  ['update_inbox', 'Update Inbox', 'DI'],
  ['delete_inbox', 'Delete Inbox', 'DI'],
  ['list_threads', 'List Threads', 'RIO'],
  ['search_threads', 'Search Threads', 'RIO'],
  ['get_thread', 'Get Thread', 'RIO'],
  ['get_attachment', 'Get Attachment', 'RIO'],
  ['update_thread', 'Update Thread', 'DI'],
  ['delete_thread', 'Delete Thread', 'D'],
  ['list_messages', 'List Messages', 'RIO'],
  ['search_messages', 'Search Messages', 'RIO'],
  ['send_message', 'Send Message', 'DO'],
  ['reply_to_message', 'Reply To Message', 'DO'],
  ['forward_message', 'Forward Message', 'DO'],
  ['update_message', 'Update Message', 'DI'],
  ['create_draft', 'Create Draft', ''],
  ['list_drafts', 'List Drafts', 'RI'],
  ['get_draft', 'Get Draft', 'RI'],
  ['update_draft', 'Update Draft', 'DI'],
  ['send_draft', 'Send Draft', 'DO'],
  ['delete_draft', 'Delete Draft', 'DI'],
  ['auth_me', 'Auth Me', 'RI'],
]

/** Tools of this server that the public catalogue does not have, after it. */
export const FURTHER_TOOLS: readonly string[] = [
  'get_message',
  'wait_for_message',
  'list_events',
  'list_calendar_events',
  'get_calendar_event',
  'create_calendar_event',
  'update_calendar_event',
  'delete_calendar_event',
  'respond_to_invitation',
  'get_free_busy',
]

/** What a call of a tool is, seen from the API. */
export interface ToolCall {
  /** The operation that it makes, which decides who may call it. */
  readonly operation: OperationId
  /** The prefix under which it makes it. */
  readonly prefix: Tier
  /** The request that it makes before, with its query, which is refused then. */
  readonly asks?: readonly [OperationId, query: string]
  /** Valid arguments. */
  readonly args: (names: Names, human: string) => Readonly<Record<string, unknown>>
}

const inbox = (names: Names) => ({ inboxId: names['inbox_id'] })
const thread = (names: Names) => ({ ...inbox(names), threadId: names['thread_id'] })
const message = (names: Names) => ({ ...inbox(names), messageId: names['message_id'] })
const draft = (names: Names) => ({ ...inbox(names), draftId: names['draft_id'] })
const event = (names: Names) => ({ ...inbox(names), eventId: names['event_id'] })

function below(operation: OperationId, args: ToolCall['args'], prefix: Tier = 'inbox'): ToolCall {
  return { operation, prefix, args }
}

/** A right call of every tool, by the names of an organization. */
export const TOOL_CALLS: Readonly<Record<string, ToolCall>> = {
  list_inboxes: below('inboxes.list', () => ({}), 'organization'),
  get_inbox: below('inboxes.get', inbox, 'organization'),
  create_inbox: below('inboxes.create', () => ({ displayName: 'Made by a tool' }), 'organization'),
  update_inbox: below('inboxes.update', (names) => ({ ...inbox(names), displayName: 'Renamed' }), 'organization'),
  delete_inbox: below('inboxes.delete', inbox, 'organization'),
  list_threads: below('threads.list', inbox),
  search_threads: below('threads.search', (names) => ({ ...inbox(names), q: 'mail' })),
  get_thread: below('threads.get', thread),
  get_attachment: below('threads.getAttachment', (names) => ({
    ...thread(names),
    attachmentId: names['attachment_id'],
  })),
  update_thread: below('threads.update', (names) => ({ ...thread(names), addLabels: ['seen'] })),
  delete_thread: below('threads.delete', thread),
  list_messages: below('messages.list', inbox),
  search_messages: below('messages.search', (names) => ({ ...inbox(names), q: 'mail' })),
  send_message: below('messages.send', (names, human) => ({ ...inbox(names), to: [human], text: 'A mail' })),
  reply_to_message: below('messages.reply', (names) => ({ ...message(names), text: 'A reply' })),
  forward_message: below('messages.forward', (names, human) => ({ ...message(names), to: [human], text: 'A forward' })),
  update_message: below('messages.update', (names) => ({ ...message(names), addLabels: ['seen'] })),
  create_draft: below('drafts.create', (names) => ({ ...inbox(names), subject: 'A draft' })),
  list_drafts: below('drafts.list', inbox),
  get_draft: below('drafts.get', draft),
  update_draft: below('drafts.update', (names) => ({ ...draft(names), subject: 'Changed' })),
  send_draft: below('drafts.send', draft),
  delete_draft: below('drafts.delete', draft),
  auth_me: below('auth.me', () => ({}), 'organization'),
  get_message: below('messages.get', message),
  wait_for_message: {
    ...below('messages.get', (names) => ({ ...inbox(names), waitSeconds: 0 })),
    asks: ['stream.poll', '?event_types=message.received'],
  },
  list_events: below('inboxEvents.list', inbox),
  list_calendar_events: below('calendarEvents.agenda', inbox),
  get_calendar_event: below('calendarEvents.get', event),
  create_calendar_event: below('calendarEvents.create', (names) => ({
    ...inbox(names),
    title: 'Review',
    start: '2031-03-03T09:00:00',
    end: '2031-03-03T10:00:00',
  })),
  update_calendar_event: below('calendarEvents.update', (names) => ({ ...event(names), title: 'Renamed' })),
  delete_calendar_event: below('calendarEvents.delete', event),
  respond_to_invitation: below('calendarEvents.respond', (names) => ({ ...event(names), status: 'accepted' })),
  get_free_busy: below('calendars.compareFreeBusy', (names) => ({ inboxIds: [names['inbox_id']] }), 'organization'),
}
