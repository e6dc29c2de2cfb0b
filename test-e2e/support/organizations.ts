import type { PermissionGrant } from '@restante/contracts/access'
import { type OperationDefinition, PREFIX } from '@restante/contracts/operations'
import type { Credential } from '@restante/contracts/testing'
import type { Tier } from '@restante/contracts/vocabulary'
import { operate } from '@restante/testkit'
import type { AgentMailClient } from 'agentmail'
import type { Endpoints } from '../stack/endpoints.ts'
import { OWNED_ZONE } from '../stack/names.ts'
import { Api } from './api.ts'
import { newAccount, newApp, newWaitingSignIn } from './apps/accounts.ts'
import { newSeries } from './calendars.ts'
import { codeFor, mailTo } from './mail.ts'
import { registerKey, type SignedApi } from './signed.ts'
import type { Suite } from './suite.ts'
import { clientOf, createTenant, keyIn, newUsername, type Tenant } from './tenants.ts'
import { letCodesBeMailed } from './time.ts'

/** Kinds of credential that only the organization of an agent has. */
export type AgentCredential = 'unverified organization' | 'provisional key'

/** Values of the parameters of a path. */
export type Names = Readonly<Record<string, string>>

/** An organization with one of everything that a path can name, and keys that may reach it or must not. */
export interface TestOrganization {
  readonly named: Names
  /** Requests with an unrestricted key of the organization. */
  readonly owner: Api
  /** The public client with the same key. */
  readonly client: AgentMailClient
  readonly peer: Suite['peer']
  /** An address that its inbox may write to. */
  readonly human: string
  /** Begins a sign-in in a browser. @returns the token by which an agent names it. */
  beginSignIn(): Promise<string>
  /** True: an agent signed up, and its human has not confirmed the code. */
  readonly isAgent: boolean
  /** A key of that kind; without `grant` it is unrestricted. The same arguments return the same key. */
  keyOf(credential: Credential, grant?: PermissionGrant): Promise<string | undefined>
  /** A registered public key of the organization; without `grant` it has the rights of the owner. */
  signerOf(grant?: PermissionGrant): Promise<SignedApi>
}

/** Uses the operator's organization of the suite, with an inbox in a pod that is not the default one. */
export async function createOrganization(suite: Suite): Promise<TestOrganization> {
  const { endpoints, tenant } = suite
  const empty = await createEmptyOrganization(suite)
  const { pod_id: podId = '', inbox_id: inboxId = '' } = empty.named
  const { domainId } = await tenant.client.pods.domains.create(podId, { domain: newDomainName() })
  const { apiKeyId } = await tenant.client.inboxes.apiKeys.create(inboxId, {})
  const signedIn = await signedInAt(endpoints, inboxId)
  return {
    ...empty,
    beginSignIn: () => newWaitingSignIn(endpoints, signedIn.app_id),
    named: {
      ...signedIn,
      ...(await contentOf(suite, inboxId)),
      ...(await newEntries(tenant.client, podId, inboxId)),
      pod_id: podId,
      domain_id: domainId,
      api_key_id: apiKeyId,
    },
  }
}

/** The same with nothing in the inbox, for a request that deletes the inbox, its pod, or what it creates itself. */
export async function createEmptyOrganization(suite: Suite): Promise<TestOrganization> {
  const { endpoints, tenant, peer } = suite
  const [{ podId }, { podId: otherPod }, stranger] = await Promise.all([
    tenant.client.pods.create({}),
    tenant.client.pods.create({}),
    createTenant(endpoints),
  ])
  const [{ inboxId }, neighbour] = await Promise.all([
    tenant.client.pods.inboxes.create(podId, {}),
    tenant.client.pods.inboxes.create(podId, {}),
  ])
  const remember = remembering<SignedApi>()
  return {
    owner: tenant.api,
    client: tenant.client,
    peer,
    human: peer.address(),
    isAgent: false,
    beginSignIn: async () => {
      throw new Error('its inbox has signed in nowhere')
    },
    named: { pod_id: podId, inbox_id: inboxId },
    keyOf: keyMaker({
      organization: [tenant.api, '/v0'],
      pod: [tenant.api, `/v0/pods/${podId}`],
      inbox: [tenant.api, `/v0/inboxes/${encodeURIComponent(inboxId)}`],
      'foreign organization': [stranger.api, '/v0'],
      'foreign pod': [tenant.api, `/v0/pods/${otherPod}`],
      'foreign inbox': [tenant.api, `/v0/inboxes/${encodeURIComponent(neighbour.inboxId)}`],
    }),
    signerOf: (grant) => {
      const rights = grant ? { permissions: grant } : {}
      return remember(rights, () => registerKey(endpoints.gatewayUrl, tenant.key, rights))
    },
  }
}

/**
 * Creates an organization by the sign-up of an agent, whose human has not entered the code.
 * @param credential which of the two keys of such an agent `keyOf` returns.
 */
export async function createAgentOrganization(suite: Suite, credential: AgentCredential): Promise<TestOrganization> {
  const human = suite.peer.address(newUsername('human'))
  const agent = await signUp(suite, human)
  const named = await contentOf({ peer: suite.peer, tenant: agent }, agent.inboxId, human)
  const { organizationId } = await agent.client.auth.me()
  // Created by the operator, because the agent may not create keys.
  const bound = keyIn(
    await operate(suite.endpoints.operator, 'keys', 'create', organizationId, '--inbox', agent.inboxId),
  )
  const { apiKeyId = '' } = await clientOf(suite.endpoints, bound).auth.me()
  const key = credential === 'provisional key' ? await provisionalKey(suite, human) : agent.key
  const signedIn = await signedInAt(suite.endpoints, agent.inboxId)
  return {
    owner: agent.api,
    client: agent.client,
    peer: suite.peer,
    human,
    isAgent: true,
    beginSignIn: () => newWaitingSignIn(suite.endpoints, signedIn.app_id),
    named: {
      ...signedIn,
      ...named,
      ...(await newEntries(agent.client, organizationId, agent.inboxId)),
      pod_id: organizationId,
      // It can have none before it is verified.
      domain_id: newDomainName(),
      api_key_id: apiKeyId,
    },
    keyOf: async (asked) => (asked === credential ? key : undefined),
    signerOf: async () => {
      throw new Error('an agent registers no public keys before it is verified')
    },
  }
}

/**
 * The path of an operation below one of its prefixes, with values for all parameters. A name may be that of one resource:
 * `drafts.attachment_id`.
 */
export function pathTo(operation: OperationDefinition, prefix: Tier, named: Names): string {
  return `${PREFIX[prefix]}${operation.path}`.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = named[`${operation.id.split('.')[0]}.${name}`] ?? named[name]
    if (value === undefined) throw new Error(`there is no value for {${name}}`)
    return encodeURIComponent(value)
  })
}

/** A name that nobody has registered, in a zone that the external DNS has. */
export function newDomainName(): string {
  return `${newUsername('domain')}.${OWNED_ZONE}`
}

type Owner = Pick<Tenant, 'client' | 'api' | 'key'>

/** Signs an agent up in the name of a human. */
export async function signUp(
  { endpoints }: Pick<Suite, 'endpoints'>,
  human_email: string,
): Promise<Owner & { inboxId: string }> {
  const anonymous = new Api(endpoints.gatewayUrl)
  const { body } = await anonymous.post('/v0/agent/sign-up', { username: newUsername('agent'), human_email })
  const key = String(body['api_key'])
  return {
    key,
    inboxId: String(body['inbox_id']),
    api: new Api(endpoints.gatewayUrl, key),
    client: clientOf(endpoints, key),
  }
}

/** Because mail has arrived, another sign-up with the same human gets a key that needs a code of its own. */
async function provisionalKey(suite: Suite, human: string): Promise<string> {
  await codeFor(suite.peer, human)
  await letCodesBeMailed(suite.endpoints)
  const { key } = await signUp(suite, human)
  await codeFor(suite.peer, human, 2)
  return key
}

/** A received mail with an attachment, a webhook, a draft, and a series of events, in an inbox. */
async function contentOf(
  { tenant, peer }: { readonly tenant: Owner; readonly peer: Suite['peer'] },
  inboxId: string,
  from = peer.address(),
): Promise<Names> {
  const [message, webhook, draft] = await Promise.all([
    mailTo({ tenant, peer }, inboxId, { from, attachments: [{ filename: 'note.txt', content: 'A note' }] }),
    tenant.client.inboxes.webhooks.create(inboxId, { url: 'http://127.0.0.1:9/', eventTypes: ['message.sent'] }),
    tenant.client.inboxes.drafts.create(inboxId, { attachments: [{ filename: 'note.txt', content: 'QSBub3Rl' }] }),
  ])
  const [attachment] = message.attachments ?? []
  return {
    inbox_id: inboxId,
    message_id: message.messageId,
    thread_id: message.threadId,
    attachment_id: attachment?.attachmentId ?? '',
    webhook_id: webhook.webhookId,
    ...(await testDelivery(tenant.api, webhook.webhookId)),
    draft_id: draft.draftId,
    event_id: await newSeries(tenant.api, inboxId),
    'drafts.attachment_id': draft.attachments?.[0]?.attachmentId ?? '',
  }
}

/** An app at which an inbox has signed in. */
async function signedInAt(endpoints: Endpoints, inboxId: string) {
  const app_id = await newApp(endpoints)
  return { app_id, account_id: await newAccount(endpoints, app_id, inboxId) }
}

/** Sends a webhook a test event. */
export async function testDelivery(api: Api, webhookId: string): Promise<Names> {
  const { body } = await api.post(`/v0/webhooks/${webhookId}/test`, {})
  return { delivery_id: String(body['delivery_id']) }
}

/** Creates an entry of the same name on one list of the organization, of a pod and of an inbox. */
export async function newEntries(client: AgentMailClient, podId: string, inboxId: string): Promise<Names> {
  const [direction, type] = ['receive', 'block'] as const
  const entry = `${newUsername('listed')}.example`
  await Promise.all([
    client.lists.create(direction, type, { entry }),
    client.pods.lists.create(podId, direction, type, { entry }),
    client.inboxes.lists.create(inboxId, direction, type, { entry }),
  ])
  return { direction, type, entry }
}

/** Creates keys through the API: `makers` gives the credential and the path for each kind. */
function keyMaker(
  makers: Readonly<Partial<Record<Credential, readonly [maker: Api, path: string]>>>,
): TestOrganization['keyOf'] {
  const remember = remembering<string>()
  return async (credential, grant) => {
    const by = makers[credential]
    if (by === undefined) return undefined
    const [maker, path] = by
    return remember([credential, grant ?? null], () => mint(maker, path, grant))
  }
}

/** Memoizes a function by its argument. */
function remembering<Answer>(): (question: unknown, find: () => Promise<Answer>) => Promise<Answer> {
  const answers = new Map<string, Promise<Answer>>()
  return (question, find) => {
    const name = JSON.stringify(question)
    const answer = answers.get(name) ?? find()
    answers.set(name, answer)
    return answer
  }
}

async function mint(maker: Api, path: string, grant: PermissionGrant | undefined): Promise<string> {
  const { status, body } = await maker.post(`${path}/api-keys`, { permissions: grant ?? null })
  if (status !== 200) throw new Error(`no key was created at ${path}: ${status} ${JSON.stringify(body)}`)
  return String(body['api_key'])
}
