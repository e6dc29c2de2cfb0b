import type { OperationDefinition } from '../definition/operation.ts'
import { type OperationId, operations } from './table.ts'

/** The resource that an operation is about: the first part of its id. */
type GroupOf<Id> = Id extends `${infer Group}.${string}` ? Group : never

interface GroupDescription {
  readonly title: string
  /** One line about the group. */
  readonly summary: string
}

/** A group of operations, as one page of the reference shows it. */
export interface OperationGroup extends GroupDescription {
  readonly name: string
  /** Name of its page: the words of `name` with hyphens, such as `api-keys`. */
  readonly page: string
  readonly operations: readonly OperationDefinition[]
}

/** By group, in the order of the reference. */
const DESCRIPTIONS = {
  agent: { title: 'Sign-up', summary: 'An agent signs up by itself' },
  auth: { title: 'Caller', summary: 'Who am I' },
  organizations: { title: 'Organizations', summary: 'The organization of the credential' },
  apiKeys: { title: 'API keys', summary: 'API keys' },
  publicKeys: { title: 'Public keys', summary: 'Public keys' },
  pods: { title: 'Pods', summary: 'Groups of inboxes' },
  inboxes: { title: 'Inboxes', summary: 'Inboxes' },
  threads: { title: 'Threads', summary: 'Conversations of an inbox' },
  inboxEvents: { title: 'Inbox events', summary: 'Label changes of the messages of an inbox' },
  messages: { title: 'Messages', summary: 'Messages: reading, sending, labels' },
  drafts: { title: 'Drafts', summary: 'Messages that are written first and sent later' },
  lists: { title: 'Lists', summary: 'Allow and block lists' },
  files: { title: 'Files', summary: 'Signed downloads' },
  draftFiles: { title: 'Files of drafts', summary: 'Signed downloads of attachments of drafts' },
  domains: { title: 'Domains', summary: 'Custom domains' },
  apps: { title: 'Apps', summary: 'Apps that inboxes sign in to' },
  accounts: { title: 'Accounts', summary: 'Inboxes signed in to apps' },
  providers: { title: 'Providers', summary: 'Apps, by their older name' },
  calendars: { title: 'Calendars', summary: 'Calendars of inboxes' },
  calendarEvents: { title: 'Calendar events', summary: 'Events of calendars' },
  calendarFeeds: { title: 'Calendar feeds', summary: 'Calendars as files of iCalendar' },
  metrics: { title: 'Metrics', summary: 'What happened, what is stored and what came back, over time' },
  webhooks: { title: 'Webhooks', summary: 'Events, delivered' },
  stream: { title: 'Stream', summary: 'Events, live' },
} as const satisfies Record<GroupOf<OperationId>, GroupDescription>

/** Every group with its operations, in the order of the reference. */
export const OPERATION_GROUPS: readonly OperationGroup[] = Object.entries<GroupDescription>(DESCRIPTIONS).map(
  ([name, description]) => ({
    name,
    ...description,
    page: name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    operations: Object.values<OperationDefinition>(operations).filter(({ id }) => id.startsWith(`${name}.`)),
  }),
)
