import { generateKeyPairSync } from 'node:crypto'
import type { Permission } from '@restante/contracts/access'
import type { OperationDefinition } from '@restante/contracts/operations'
import { invite, newEvent, newFeed } from '../calendars.ts'
import { codeFor, mailTo } from '../mail.ts'
import { type Names, newDomainName, newEntries, type TestOrganization, testDelivery } from '../organizations.ts'
import { newUsername } from '../tenants.ts'

/** What a request of an operation needs in addition to its path, so that only the caller can be wrong. */
export interface RightCall {
  readonly query?: string
  body?(organization: TestOrganization): unknown | Promise<unknown>
  /** Creates something that this request may use up. @returns its names. */
  fresh?(organization: TestOrganization): Promise<Names>
  /**
   * True: the operation ends its organization, so each request that should succeed needs an organization of its own.
   */
  readonly endsOrganization?: true
  /** True: the organization of an agent has just one of what this request uses up, and `fresh` creates no other. */
  readonly endsAgent?: true
  /** Permissions that it needs besides that of the operation. */
  readonly also?: readonly Permission[]
}

/** Requests that need more than a path and perhaps `{}`. */
const CALLS: Readonly<Record<string, RightCall>> = {
  'agent.signUp': { body: () => ({ username: newUsername('agent') }) },
  'agent.verify': { endsOrganization: true, body: async (organization) => ({ otp_code: await codeOf(organization) }) },
  'agent.human': { body: ({ human }) => ({ human_email: human }) },
  'apiKeys.update': { body: () => ({ name: 'Renamed' }) },
  'apiKeys.delete': { fresh: newKey, endsAgent: true },
  'publicKeys.create': { body: () => ({ public_key: newPublicJwk() }) },
  'publicKeys.update': { body: () => ({ name: 'Renamed' }), fresh: newPublicKey },
  'publicKeys.delete': { fresh: newPublicKey },
  'pods.update': { body: () => ({ name: 'Renamed' }) },
  'pods.delete': { endsOrganization: true, fresh: emptyPod },
  'inboxes.search': { query: '?q=box' },
  'inboxes.update': { body: () => ({ display_name: 'Renamed' }) },
  'inboxes.delete': { endsOrganization: true },
  'messages.search': { query: '?q=mail' },
  'messages.batchGet': { body: ({ named }) => ({ message_ids: [nameIn(named, 'message_id')] }) },
  'messages.batchUpdate': {
    body: ({ named }) => ({ message_ids: [nameIn(named, 'message_id')], add_labels: ['seen'] }),
  },
  'messages.update': { body: () => ({ add_labels: ['seen'] }) },
  'messages.delete': { fresh: newMessage },
  'threads.search': { query: '?q=mail' },
  'threads.update': { body: () => ({ add_labels: ['seen'] }) },
  'threads.delete': { fresh: newMessage },
  'messages.send': { body: ({ human }) => ({ to: human, text: 'A mail' }) },
  'messages.reply': { body: () => ({ text: 'A reply' }) },
  'messages.replyAll': { body: () => ({ text: 'A reply' }) },
  'messages.forward': { body: ({ human }) => ({ to: human, text: 'A forward' }) },
  'drafts.delete': { fresh: newDraft },
  'drafts.send': { fresh: newDraft },
  'draftFiles.download': { fresh: newDraftLink },
  ...Object.fromEntries(
    ['draftReply', 'draftReplyAll', 'draftForward'].map((name) => [
      `messages.${name}`,
      { also: ['message_read'], body: () => ({ text: 'An answer' }) } satisfies RightCall,
    ]),
  ),
  'lists.create': { body: () => ({ entry: `${newUsername('listed')}.example` }) },
  'lists.delete': { fresh: newEntry },
  'files.download': { fresh: newLink },
  'domains.create': { body: () => ({ domain: newDomainName() }) },
  'domains.update': { body: () => ({ feedback_enabled: true }) },
  'domains.delete': { fresh: newDomain },
  'apps.search': { query: '?q=app' },
  'providers.search': { query: '?q=app' },
  'apps.connect': { body: ({ named }) => ({ inbox_id: nameIn(named, 'inbox_id') }) },
  'providers.connect': { body: ({ named }) => ({ inbox_id: nameIn(named, 'inbox_id') }) },
  'apps.authorize': { body: async ({ beginSignIn }) => ({ auth_token: await beginSignIn() }) },
  'accounts.update': { body: () => ({ status: 'enabled' }) },
  'accounts.patch': { body: () => ({ status: 'enabled' }) },
  'calendars.update': { body: () => ({ timezone: 'Europe/Berlin' }) },
  'calendars.compareFreeBusy': { body: ({ named }) => ({ inbox_ids: [nameIn(named, 'inbox_id')] }) },
  'calendars.createFeed': { also: ['calendar_event_read'], body: () => ({}) },
  // A calendar has one feed: a request that ends it needs a calendar of its own, and those that read it share it.
  'calendars.deleteFeed': { endsOrganization: true, fresh: sharedFeed },
  'calendarFeeds.get': { fresh: sharedFeed },
  'calendarEvents.create': {
    body: () => ({ title: 'Review', start: '2031-03-03T09:00:00', end: '2031-03-03T10:00:00' }),
  },
  'calendarEvents.update': { body: () => ({ title: 'Renamed' }) },
  'calendarEvents.delete': {
    fresh: async ({ owner, named }) => ({ event_id: await newEvent(owner, nameIn(named, 'inbox_id')) }),
  },
  'calendarEvents.respond': {
    body: () => ({ status: 'accepted', send_reply: false }),
    fresh: async ({ peer, owner, named, human }) => ({
      event_id: await invite(peer, owner, nameIn(named, 'inbox_id'), human),
    }),
  },
  'webhooks.create': { body: () => ({ url: 'http://127.0.0.1:9/', event_types: ['message.sent'] }) },
  'webhooks.updateHeaders': { body: () => ({ headers: { 'x-tenant': 'one' } }) },
  'webhooks.delete': { fresh: newWebhook },
  'webhooks.retryDelivery': { body: () => ({}), fresh: newDelivery },
}

/** @throws Error for an operation that needs valid values and has none here. */
export function rightCall(operation: OperationDefinition): RightCall {
  const { id, method, body, query } = operation
  const known = CALLS[id]
  if (known !== undefined) return known
  const demanding = [body, query].some((schema) => schema?.safeParse({}).success === false)
  if (demanding || method === 'DELETE') throw new Error(`add valid values for ${id} in support/right-calls.ts`)
  return body === undefined ? {} : { body: () => ({}) }
}

/** An agent can create no key other than its own. */
async function newKey({ client, named, isAgent }: TestOrganization): Promise<Names> {
  if (isAgent) return {}
  const { apiKeyId } = await client.inboxes.apiKeys.create(nameIn(named, 'inbox_id'), {})
  return { api_key_id: apiKeyId }
}

/** An agent can register none. */
async function newPublicKey({ owner, named, isAgent }: TestOrganization): Promise<Names> {
  if (isAgent) return {}
  const keys = `/v0/inboxes/${encodeURIComponent(nameIn(named, 'inbox_id'))}/api-keys`
  const { body } = await owner.post(keys, { public_key: newPublicJwk() })
  return { api_key_id: String(body['api_key_id']) }
}

function newPublicJwk() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
}

/** Only an empty pod can be deleted. */
async function emptyPod({ client, named }: TestOrganization): Promise<Names> {
  const podId = nameIn(named, 'pod_id')
  const [{ inboxes }, { domains }] = await Promise.all([
    client.pods.inboxes.list(podId),
    client.pods.domains.list(podId),
  ])
  for (const { inboxId } of inboxes) await client.inboxes.delete(inboxId)
  for (const { domainId } of domains) await client.domains.delete(domainId)
  return {}
}

async function newMessage({ client, peer, named }: TestOrganization): Promise<Names> {
  const { messageId, threadId } = await mailTo({ tenant: { client }, peer }, nameIn(named, 'inbox_id'))
  return { message_id: messageId, thread_id: threadId }
}

async function newEntry({ client, named }: TestOrganization): Promise<Names> {
  return newEntries(client, nameIn(named, 'pod_id'), nameIn(named, 'inbox_id'))
}

const feeds = new WeakMap<TestOrganization, Promise<string>>()

async function sharedFeed(organization: TestOrganization): Promise<Names> {
  const feed = feeds.get(organization) ?? newFeed(organization.owner, nameIn(organization.named, 'inbox_id'))
  feeds.set(organization, feed)
  return { token: await feed }
}

async function newLink({ client, named }: TestOrganization): Promise<Names> {
  const { downloadUrl } = await client.inboxes.messages.getRaw(nameIn(named, 'inbox_id'), nameIn(named, 'message_id'))
  return { token: decodeURIComponent(new URL(downloadUrl).pathname.split('/').at(-1) ?? '') }
}

/** A draft to the organization's human, with an attachment. */
async function newDraft({ client, human, named }: TestOrganization): Promise<Names> {
  const { draftId, attachments } = await client.inboxes.drafts.create(nameIn(named, 'inbox_id'), {
    to: [human],
    text: 'A draft',
    attachments: [{ filename: 'note.txt', content: 'QSBub3Rl' }],
  })
  return { draft_id: draftId, attachment_id: attachments?.[0]?.attachmentId ?? '' }
}

async function newDraftLink(organization: TestOrganization): Promise<Names> {
  const names = await newDraft(organization)
  const { draft_id: draftId = '', attachment_id: attachmentId = '' } = names
  const inboxId = nameIn(organization.named, 'inbox_id')
  const { downloadUrl } = await organization.client.inboxes.drafts.getAttachment(inboxId, draftId, attachmentId)
  return { ...names, token: new URL(downloadUrl).pathname.split('/').at(-1) ?? '' }
}

/** A domain of the pod. */
async function newDomain({ client, named }: TestOrganization): Promise<Names> {
  const { domainId } = await client.pods.domains.create(nameIn(named, 'pod_id'), { domain: newDomainName() })
  return { domain_id: domainId }
}

async function newWebhook({ client, named }: TestOrganization): Promise<Names> {
  const { webhookId } = await client.inboxes.webhooks.create(nameIn(named, 'inbox_id'), {
    url: 'http://127.0.0.1:9/',
    eventTypes: ['message.sent'],
  })
  return { webhook_id: webhookId }
}

/** A test event that its receiver does not take, and that is retried. */
async function newDelivery(organization: TestOrganization): Promise<Names> {
  const { webhook_id } = await newWebhook(organization)
  return { webhook_id: webhook_id ?? '', ...(await testDelivery(organization.owner, webhook_id ?? '')) }
}

/** Where there is nothing to verify, any code is valid input. */
async function codeOf({ peer, human, isAgent }: TestOrganization): Promise<string> {
  return isAgent ? codeFor(peer, human) : '123456'
}

function nameIn(named: Names, name: string): string {
  const value = named[name]
  if (value === undefined) throw new Error(`there is no value for {${name}}`)
  return value
}
