import { type OperationDefinition, PERMISSIONS, PREFIX, type Tier } from '@restante/contracts'
import type { Place } from '../stack/place.ts'
import { Api } from './api.ts'
import { mailTo } from './mail.ts'
import type { Suite } from './suite.ts'
import { createPod, createTenant, keyIn, newUsername, operate } from './tenants.ts'

/** One of everything that a path can name, with keys beside it that must not reach it. */
export interface Estate {
  /** What stands for each parameter of a path. */
  readonly named: Readonly<Record<string, string>>
  /** An unrestricted key of the organization that owns it all. */
  readonly owner: Api
  /** Keys of the neighbours, by tier: another organization, pod, inbox. */
  readonly siblings: Readonly<Record<Tier, Api>>
  /** Unrestricted keys at the tiers below the organization, for what these tiers cannot do. */
  readonly bound: Readonly<Record<'pod' | 'inbox', Api>>
  /** The key of an agent whose human is not verified. */
  readonly agent: Api
  /** A key of the organization that holds every permission but one. */
  without(permission: string): Promise<Api>
}

export async function buildEstate(suite: Suite): Promise<Estate> {
  const { place, tenant } = suite
  const [mine, neighbour] = [await tenant.client.inboxes.create({}), await tenant.client.inboxes.create({})]
  const [otherPod, stranger] = await Promise.all([createPod(place, tenant.id), createTenant(place)])
  const [message, webhook, key] = await Promise.all([
    mailTo(suite, mine.inboxId),
    tenant.client.inboxes.webhooks.create(mine.inboxId, { url: 'http://127.0.0.1:9/', eventTypes: ['message.sent'] }),
    tenant.client.inboxes.apiKeys.create(mine.inboxId, {}),
  ])
  const [podKey, inboxKey, siblingPod, siblingInbox] = await Promise.all([
    keyFor(place, tenant.id, '--pod', mine.podId),
    keyFor(place, tenant.id, '--inbox', mine.inboxId),
    keyFor(place, tenant.id, '--pod', otherPod),
    keyFor(place, tenant.id, '--inbox', neighbour.inboxId),
  ])
  return {
    named: {
      pod_id: mine.podId,
      inbox_id: mine.inboxId,
      message_id: message.messageId,
      thread_id: message.threadId,
      attachment_id: '00000000-0000-4000-8000-000000000000',
      webhook_id: webhook.webhookId,
      api_key_id: key.apiKeyId,
      token: 'token',
    },
    owner: tenant.api,
    siblings: { organization: stranger.api, pod: siblingPod, inbox: siblingInbox },
    bound: { pod: podKey, inbox: inboxKey },
    agent: await signUp(place),
    async without(missing) {
      const permissions = Object.fromEntries(PERMISSIONS.map((name) => [name, name !== missing]))
      const { body } = await tenant.api.post('/v0/api-keys', { permissions })
      return new Api(place.gatewayUrl, String(body['api_key']))
    },
  }
}

/** The path of an operation at one of its prefixes, every parameter filled in. */
export function pathTo(operation: OperationDefinition, prefix: Tier, named: Readonly<Record<string, string>>): string {
  return `${PREFIX[prefix]}${operation.path}`.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = named[name]
    if (value === undefined) throw new Error(`nothing stands for {${name}}`)
    return encodeURIComponent(value)
  })
}

async function keyFor(place: Place, organizationId: string, ...scope: string[]): Promise<Api> {
  const printed = await operate(place, 'keys', 'create', organizationId, ...scope)
  return new Api(place.gatewayUrl, keyIn(printed))
}

async function signUp(place: Place): Promise<Api> {
  const { body } = await new Api(place.gatewayUrl).post('/v0/agent/sign-up', { username: newUsername('agent') })
  return new Api(place.gatewayUrl, String(body['api_key']))
}
