import type { OperationDefinition } from '@restante/contracts'
import type { Estate, Names } from './estate.ts'
import { codeFor, mailTo } from './mail.ts'
import { newUsername } from './tenants.ts'

/** What a request of an operation needs besides its path, so that nothing but its caller can be wrong. */
export interface RightCall {
  readonly query?: string
  body?(estate: Estate): unknown | Promise<unknown>
  /** Names of something that this one request may use up. */
  fresh?(estate: Estate): Promise<Names>
  /** It ends what its caller belongs to: each request that should succeed needs an estate of its own. */
  readonly endsEstate?: true
}

/** Requests that need more than a path and perhaps `{}`. */
const CALLS: Readonly<Record<string, RightCall>> = {
  'agent.signUp': { body: () => ({ username: newUsername('agent') }) },
  'agent.verify': { endsEstate: true, body: async (estate) => ({ otp_code: await codeOf(estate) }) },
  'agent.human': { body: ({ human }) => ({ human_email: human }) },
  'apiKeys.update': { body: () => ({ name: 'Renamed' }) },
  'apiKeys.delete': { fresh: newKey },
  'pods.update': { body: () => ({ name: 'Renamed' }) },
  'pods.delete': { endsEstate: true, fresh: emptyPod },
  'inboxes.search': { query: '?q=box' },
  'inboxes.update': { body: () => ({ display_name: 'Renamed' }) },
  'inboxes.delete': { endsEstate: true },
  'messages.update': { body: () => ({ add_labels: ['seen'] }) },
  'messages.delete': { fresh: newMessage },
  'messages.send': { body: ({ human }) => ({ to: human, text: 'A mail' }) },
  'messages.reply': { body: () => ({ text: 'A reply' }) },
  'messages.replyAll': { body: () => ({ text: 'A reply' }) },
  'files.download': { fresh: newLink },
  'webhooks.create': { body: () => ({ url: 'http://127.0.0.1:9/', event_types: ['message.sent'] }) },
  'webhooks.delete': { fresh: newWebhook },
}

/** @throws Error for an operation that needs right values and has none here. */
export function rightCall(operation: OperationDefinition): RightCall {
  const { id, method, body, query } = operation
  const known = CALLS[id]
  if (known !== undefined) return known
  const demanding = [body, query].some((schema) => schema?.safeParse({}).success === false)
  if (demanding || method === 'DELETE') throw new Error(`give right values for ${id} in support/right-calls.ts`)
  return body === undefined ? {} : { body: () => ({}) }
}

/** An agent can make no other key than its own. */
async function newKey({ client, named, isAgent }: Estate): Promise<Names> {
  if (isAgent) return {}
  const { apiKeyId } = await client.inboxes.apiKeys.create(nameIn(named, 'inbox_id'), {})
  return { api_key_id: apiKeyId }
}

/** A pod is deleted once nothing is in it. */
async function emptyPod({ client, named }: Estate): Promise<Names> {
  const { inboxes } = await client.pods.inboxes.list(nameIn(named, 'pod_id'))
  for (const { inboxId } of inboxes) await client.inboxes.delete(inboxId)
  return {}
}

async function newMessage({ client, peer, named }: Estate): Promise<Names> {
  const { messageId } = await mailTo({ tenant: { client }, peer }, nameIn(named, 'inbox_id'))
  return { message_id: messageId }
}

async function newLink({ client, named }: Estate): Promise<Names> {
  const { downloadUrl } = await client.inboxes.messages.getRaw(nameIn(named, 'inbox_id'), nameIn(named, 'message_id'))
  return { token: decodeURIComponent(new URL(downloadUrl).pathname.split('/').at(-1) ?? '') }
}

async function newWebhook({ client, named }: Estate): Promise<Names> {
  const { webhookId } = await client.inboxes.webhooks.create(nameIn(named, 'inbox_id'), {
    url: 'http://127.0.0.1:9/',
    eventTypes: ['message.sent'],
  })
  return { webhook_id: webhookId }
}

/** Where there is nothing to verify, any code will do. */
async function codeOf({ peer, human, isAgent }: Estate): Promise<string> {
  return isAgent ? codeFor(peer, human) : '123456'
}

function nameIn(named: Names, name: string): string {
  const value = named[name]
  if (value === undefined) throw new Error(`nothing stands for {${name}}`)
  return value
}
