import { BINARY, type OperationDefinition, UPGRADE } from '../../definition/operation.ts'
import { pathsOf } from '../../operations/table.ts'

/** What an example sends in addition to the path. */
interface Example {
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const DAY = { after: '2026-12-01T00:00:00Z', before: '2026-12-02T00:00:00Z' }
const MAIL = { to: ['ada@example.org'], subject: 'Hello', text: 'Are you there?' }
const LABELS = { add_labels: ['done'], remove_labels: ['unread'] }

/** By operation. Those that are not here send no query, and the body `{}` if they have one. */
const EXAMPLES: Readonly<Record<string, Example>> = {
  'agent.signUp': { body: { username: 'desk', human_email: 'you@people.test' } },
  'agent.verify': { body: { otp_code: '123456' } },
  'agent.human': { body: { human_email: 'you@people.test' } },
  'apiKeys.create': { body: { name: 'worker', permissions: { inbox_read: true, message_read: true } } },
  'apiKeys.update': { body: { name: 'worker 2' } },
  'publicKeys.create': {
    body: {
      name: 'worker',
      public_key: {
        kty: 'EC',
        crv: 'P-256',
        x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
        y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
      },
    },
  },
  'publicKeys.update': { body: { name: 'worker 2' } },
  'pods.create': { body: { name: 'Customer 17', client_id: 'customer-17' } },
  'pods.update': { body: { name: 'Customer 18' } },
  'inboxes.create': { body: { username: 'sales', client_id: 'sales-1' } },
  'inboxes.search': { query: { q: 'sal' } },
  'inboxes.update': { body: { display_name: 'Sales' } },
  'threads.search': { query: { q: 'refund' } },
  'threads.update': { body: LABELS },
  'messages.search': { query: { q: 'refund' } },
  'messages.batchGet': { body: { message_ids: ['<id@host>'] } },
  'messages.batchUpdate': { body: { message_ids: ['<id@host>'], ...LABELS } },
  'messages.update': { body: LABELS },
  'messages.send': { body: MAIL },
  'messages.reply': { body: { text: 'I am.' } },
  'messages.replyAll': { body: { text: 'I am.' } },
  'messages.forward': { body: { to: ['ada@example.org'], text: 'See below.' } },
  'messages.draftReply': { body: { text: 'I am.' } },
  'messages.draftReplyAll': { body: { text: 'I am.' } },
  'messages.draftForward': { body: { to: ['ada@example.org'] } },
  'drafts.create': { body: { ...MAIL, send_at: '2026-12-01T09:00:00Z' } },
  'drafts.update': { body: { subject: 'Hello again' } },
  'lists.create': { body: { entry: 'example.org', reason: 'Only newsletters' } },
  'domains.create': { body: { domain: 'mail.example.com' } },
  'domains.update': { body: { tracking_enabled: true } },
  'apps.search': { query: { q: 'notes' } },
  'providers.search': { query: { q: 'notes' } },
  'apps.connect': { body: { inbox_id: 'desk@restante.test' } },
  'providers.connect': { body: { inbox_id: 'desk@restante.test' } },
  'apps.authorize': { body: { auth_token: 'the token of the sign-in page' } },
  'accounts.patch': { body: { status: 'disabled' } },
  'accounts.update': { body: { status: 'disabled' } },
  'calendars.update': { body: { timezone: 'Europe/Paris' } },
  'calendars.freeBusy': { query: DAY },
  'calendars.compareFreeBusy': { body: { inbox_ids: ['desk@restante.test', 'sales@restante.test'], ...DAY } },
  'calendarEvents.create': {
    body: {
      title: 'Review',
      start: '2026-12-01T10:00:00',
      end: '2026-12-01T10:30:00',
      timezone: 'Europe/Paris',
      attendees: [{ email: 'ada@example.org' }],
      send_invites: true,
    },
  },
  'calendarEvents.update': { body: { title: 'Second review' } },
  'calendarEvents.respond': { body: { status: 'accepted' } },
  'calendarEvents.agenda': { query: DAY },
  'webhooks.create': { body: { url: 'https://agent.example.com/hook', event_types: ['message.received'] } },
  'webhooks.update': { body: { enabled: false } },
  'webhooks.updateHeaders': { body: { headers: { 'X-Agent': 'desk' } } },
}

/** The query and the body of the example, for the test that the operation takes them. */
export function exampleInput({ id, body }: OperationDefinition): Example {
  const { query = {}, body: given = {} } = EXAMPLES[id] ?? {}
  return { query, ...(body !== undefined && { body: given }) }
}

/** A command of a shell that calls an operation. Its parameters in the path are variables: `$INBOX_ID`. */
export function exampleOf(operation: OperationDefinition): string {
  const { query = {}, body } = exampleInput(operation)
  const [{ path } = { path: '' }] = pathsOf(operation)
  const words = new URLSearchParams(query).toString()
  const target = `${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}${words && `?${words}`}`
  if (operation.response === UPGRADE)
    return `websocat -H "Authorization: Bearer $API_KEY" "ws://127.0.0.1:3000${target}"`
  const method =
    operation.method === 'GET' || (operation.method === 'POST' && body !== undefined) ? '' : ` -X ${operation.method}`
  return [
    `curl${method} "http://127.0.0.1:3000${target}"`,
    ...(operation.authentication === 'key' ? ['-H "Authorization: Bearer $API_KEY"'] : []),
    ...(body === undefined ? [] : [`-H "Content-Type: application/json" -d '${JSON.stringify(body)}'`]),
    ...(operation.response === BINARY ? ['-o file'] : []),
  ].join(' \\\n  ')
}
