import type { Caller } from '@restante/contracts/access'
import { calendarTools } from './calendar/calendar.ts'
import type { Tool } from './definition/tool.ts'
import { listEvents } from './inbox/events.ts'
import { authMe } from './inbox/identity.ts'
import { inboxTools } from './inbox/inboxes.ts'
import { getAttachment } from './mail/attachments.ts'
import { draftTools } from './mail/drafts.ts'
import { messageTools } from './mail/messages.ts'
import { sendingTools } from './mail/sending.ts'
import { threadTools } from './mail/threads.ts'
import { waitForMessage } from './mail/waiting.ts'
import { mayCall } from './permitted.ts'

/** The public catalogue in its order, which agents and their prompts know (mcp 2). */
const PUBLIC = [
  'list_inboxes',
  'get_inbox',
  'create_inbox',
  'update_inbox',
  'delete_inbox',
  'list_threads',
  'search_threads',
  'get_thread',
  'get_attachment',
  'update_thread',
  'delete_thread',
  'list_messages',
  'search_messages',
  'send_message',
  'reply_to_message',
  'forward_message',
  'update_message',
  'create_draft',
  'list_drafts',
  'get_draft',
  'update_draft',
  'send_draft',
  'delete_draft',
  'auth_me',
]

const byName: ReadonlyMap<string, Tool> = new Map(
  [
    ...inboxTools,
    ...threadTools,
    getAttachment,
    ...Object.values(messageTools),
    ...sendingTools,
    ...draftTools,
    authMe,
    waitForMessage,
    listEvents,
    ...calendarTools,
  ].map((tool) => [tool.name, tool]),
)

/** Every tool: the public ones first, then those that this server has in addition. */
export const TOOLS: readonly Tool[] = [
  ...PUBLIC.flatMap((name) => byName.get(name) ?? []),
  ...[...byName.values()].filter(({ name }) => !PUBLIC.includes(name)),
]

export function findTool(name: string): Tool | undefined {
  return byName.get(name)
}

/** The tools that a caller may use, as `tools/list` shows them. */
export function describedTools(caller: Caller): Tool['described'][] {
  return TOOLS.filter(({ needs }) => needs.every((id) => mayCall(caller, id))).map(({ described }) => described)
}
