/** Types of members. `?` behind the name of a member: it may be absent. */
type Kind = 'string' | 'number' | 'time' | 'true' | 'strings' | 'metadata' | readonly string[] | Shape | { each: Shape }
interface Shape {
  readonly [member: string]: Kind
}

const paged = { count: 'number', 'limit?': 'number', 'nextPageToken?': 'string' } as const
const changed = { createdAt: 'time', updatedAt: 'time' } as const
const attachment = {
  attachmentId: 'string',
  size: 'number',
  'filename?': 'string',
  'contentType?': 'string',
  'contentDisposition?': 'string',
  'contentId?': 'string',
} as const
const recipients = { 'to?': 'strings', 'cc?': 'strings', 'bcc?': 'strings' } as const
const shown = { 'subject?': 'string', 'preview?': 'string', 'attachments?': { each: attachment } } as const
const found = {
  'highlights?': { 'from?': 'strings', 'recipients?': 'strings', 'subject?': 'strings', 'text?': 'strings' },
} as const

const inbox = {
  inboxId: 'string',
  email: 'string',
  'displayName?': 'string',
  'metadata?': 'metadata',
  ...changed,
} as const
const threadItem = {
  inboxId: 'string',
  threadId: 'string',
  labels: 'strings',
  timestamp: 'time',
  'receivedTimestamp?': 'time',
  'sentTimestamp?': 'time',
  senders: 'strings',
  recipients: 'strings',
  lastMessageId: 'string',
  messageCount: 'number',
  size: 'number',
  ...shown,
  ...changed,
} as const
const messageItem = {
  inboxId: 'string',
  threadId: 'string',
  messageId: 'string',
  labels: 'strings',
  timestamp: 'time',
  from: 'string',
  'inReplyTo?': 'string',
  'references?': 'strings',
  size: 'number',
  ...recipients,
  ...shown,
  ...changed,
} as const
const message = {
  ...messageItem,
  'replyTo?': 'strings',
  'text?': 'string',
  'html?': 'string',
  'extractedText?': 'string',
  'extractedHtml?': 'string',
} as const
const draftItem = {
  inboxId: 'string',
  draftId: 'string',
  labels: 'strings',
  'inReplyTo?': 'string',
  'sendStatus?': ['scheduled', 'sending', 'failed'],
  'sendAt?': 'time',
  updatedAt: 'time',
  ...recipients,
  ...shown,
} as const
const draft = {
  ...draftItem,
  'replyTo?': 'strings',
  'text?': 'string',
  'html?': 'string',
  'references?': 'strings',
  createdAt: 'time',
} as const
const sent = { messageId: 'string', threadId: 'string' } as const
const success = { success: 'true' } as const

/** What the public toolkit demands of the answer of each of its tools; it drops what it does not know. */
const SHAPES: Readonly<Record<string, Shape>> = {
  list_inboxes: { ...paged, inboxes: { each: inbox } },
  get_inbox: inbox,
  create_inbox: inbox,
  update_inbox: inbox,
  delete_inbox: success,
  list_threads: { ...paged, threads: { each: threadItem } },
  search_threads: { ...paged, threads: { each: { ...threadItem, ...found } } },
  get_thread: { ...threadItem, messages: { each: message } },
  get_attachment: { ...attachment, downloadUrl: 'string', expiresAt: 'time', 'text?': 'string' },
  update_thread: { threadId: 'string', labels: 'strings' },
  delete_thread: success,
  list_messages: { ...paged, messages: { each: messageItem } },
  search_messages: { ...paged, messages: { each: { ...messageItem, ...found } } },
  send_message: sent,
  reply_to_message: sent,
  forward_message: sent,
  update_message: { messageId: 'string', labels: 'strings' },
  create_draft: draft,
  list_drafts: { ...paged, drafts: { each: draftItem } },
  get_draft: draft,
  update_draft: draft,
  send_draft: sent,
  delete_draft: success,
  auth_me: {
    scopeType: ['organization', 'pod', 'inbox'],
    scopeId: 'string',
    organizationId: 'string',
    'podId?': 'string',
    'inboxId?': 'string',
    'apiKeyId?': 'string',
  },
  get_message: message,
}

/** What the public toolkit would find wrong in an answer, by its path. */
export function problemsOf(tool: string, answer: unknown): string[] {
  const shape = SHAPES[tool]
  return shape === undefined ? [] : wrongIn(answer, shape, tool)
}

/** Whether an answer of the tool is described above. */
export function isPublicShape(tool: string): boolean {
  return Object.hasOwn(SHAPES, tool)
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

function wrongIn(value: unknown, kind: Kind, path: string): string[] {
  if (typeof kind === 'string') return isOf(kind, value) ? [] : [`${path} is no ${kind}: ${JSON.stringify(value)}`]
  if (isWords(kind)) return kind.some((word) => word === value) ? [] : [`${path} is none of ${kind}`]
  if ('each' in kind && typeof kind.each === 'object' && !isWords(kind.each)) {
    const { each } = kind
    if (!Array.isArray(value)) return [`${path} is no list`]
    return value.flatMap((entry, index) => wrongIn(entry, each, `${path}.${index}`))
  }
  if (!isDocument(value)) return [`${path} is no document`]
  return Object.entries(kind).flatMap(([name, member]) => {
    const bare = name.replace('?', '')
    const given = value[bare]
    if (given === undefined) return bare === name ? [`${path}.${bare} is missing`] : []
    return wrongIn(given, member, `${path}.${bare}`)
  })
}

function isOf(kind: string, value: unknown): boolean {
  switch (kind) {
    case 'true':
      return value === true
    case 'time':
      return typeof value === 'string' && TIME.test(value)
    case 'strings':
      return Array.isArray(value) && value.every((each) => typeof each === 'string')
    case 'metadata':
      return isDocument(value) && Object.values(value).every((each) => /^(string|number|boolean)$/.test(typeof each))
    default:
      return typeof value === kind
  }
}

function isWords(kind: Kind): kind is readonly string[] {
  return Array.isArray(kind)
}

function isDocument(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
