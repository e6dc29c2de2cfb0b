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
  agent: { title: 'Sign-up', summary: 'An agent signs up by itself, and enters the code that its human got' },
  auth: { title: 'Caller', summary: 'What the key of the request is for' },
  organizations: { title: 'Organizations', summary: 'The organization of the credential' },
  apiKeys: {
    title: 'API keys',
    summary: 'Create, list, change and delete the keys of an organization, a pod or an inbox',
  },
  publicKeys: { title: 'Public keys', summary: 'Register keys whose requests are signed, in place of a secret' },
  pods: { title: 'Pods', summary: 'Groups of inboxes, such as those of one customer' },
  inboxes: { title: 'Inboxes', summary: 'Create, list, search, change, pause and delete inboxes' },
  threads: { title: 'Threads', summary: 'Conversations: list, search, read, labels' },
  inboxEvents: { title: 'Inbox events', summary: 'Label changes of the messages of an inbox' },
  messages: { title: 'Messages', summary: 'Read, search, send, reply, forward and label mail' },
  drafts: { title: 'Drafts', summary: 'Messages that are written first and sent later' },
  lists: {
    title: 'Lists',
    summary: 'Allow and block lists for recipients, senders of new mail, and senders of answers',
  },
  files: { title: 'Files', summary: 'Downloads of attachments and raw mail, by links that need no key' },
  draftFiles: { title: 'Files of drafts', summary: 'Downloads of attachments of drafts, by links that need no key' },
  domains: { title: 'Domains', summary: 'Register and verify custom domains, and get their DNS records' },
  apps: { title: 'Apps', summary: 'Apps that inboxes sign in to' },
  accounts: { title: 'Accounts', summary: 'Inboxes signed in to apps' },
  providers: { title: 'Providers', summary: 'Apps, by their older name' },
  calendars: { title: 'Calendars', summary: 'The calendar of an inbox, free time of many, and feeds' },
  calendarEvents: { title: 'Calendar events', summary: 'Create, change, answer and list events, and invite by mail' },
  calendarFeeds: { title: 'Calendar feeds', summary: 'A calendar as a file of iCalendar, for calendar programs' },
  metrics: { title: 'Metrics', summary: 'What happened, what is stored and what came back, over time' },
  webhooks: { title: 'Webhooks', summary: 'Events, delivered to a URL with a signature; deliveries and their replay' },
  stream: { title: 'Stream', summary: 'Events, live by WebSocket or long polling' },
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
