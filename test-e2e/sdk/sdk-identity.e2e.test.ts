import { isOperationId } from '@restante/contracts/operations'
import { AgentMailClient } from 'agentmail'
import { codeFor, mailTo } from '../support/mail.ts'
import { secretOf } from '../support/sdk.ts'
import { useSystem } from '../support/suite.ts'
import { clientOf, newUsername } from '../support/tenants.ts'

/** Resources of the client that concern identity. */
const resourcesOf = (client: AgentMailClient): Readonly<Record<string, object>> => ({
  auth: client.auth,
  organizations: client.organizations,
  agent: client.agent,
  apiKeys: client.apiKeys,
  'inboxes.apiKeys': client.inboxes.apiKeys,
  'pods.apiKeys': client.pods.apiKeys,
  pods: client.pods,
  inboxes: client.inboxes,
  'pods.inboxes': client.pods.inboxes,
})

describe('the public client, method by method', () => {
  const system = useSystem()
  const my = () => system.tenant.client
  const newKey = async (): Promise<string> => (await my().apiKeys.create({ name: 'A key' })).apiKeyId
  const newPod = async (): Promise<string> => (await my().pods.create({ name: 'A pod' })).podId
  const newInbox = async (): Promise<string> => (await my().inboxes.create({ username: newUsername() })).inboxId
  const inPod = async () => my().pods.inboxes.create(await newPod(), { username: newUsername() })

  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'auth.me': async () => expect(await my().auth.me()).toMatchObject({ organizationId: system.tenant.id }),
    'organizations.get': async () =>
      expect(await my().organizations.get()).toMatchObject({ organizationId: system.tenant.id }),
    'agent.signUp': async () => expect((await signUp()).apiKey).toMatch(/^am_/),
    'agent.verify': async () => {
      const { apiKey, human, inboxId } = await signUp()
      const client = clientOf(system.endpoints, apiKey)
      const otpCode = await codeFor(system.peer, human)
      expect(await client.agent.verify({ otpCode })).toEqual({ verified: true })
      expect(await mailTo({ tenant: { client }, peer: system.peer }, inboxId)).toMatchObject({ inboxId })
    },

    'apiKeys.list': async () => expect((await my().apiKeys.list({ type: 'bearer' })).count).toBeGreaterThan(0),
    'apiKeys.get': async () => expect(await my().apiKeys.get(await newKey())).toMatchObject({ name: 'A key' }),
    'apiKeys.create': async () => expect(secretOf(await my().apiKeys.create({}))).toMatch(/^am_/),
    'apiKeys.update': async () =>
      expect(await my().apiKeys.update(await newKey(), { name: 'B' })).toMatchObject({ name: 'B' }),
    'apiKeys.delete': async () => my().apiKeys.delete(await newKey()),

    'inboxes.apiKeys.list': async () => expect((await my().inboxes.apiKeys.list(await newInbox())).apiKeys).toEqual([]),
    'inboxes.apiKeys.create': async () => {
      const inboxId = await newInbox()
      expect(await my().inboxes.apiKeys.create(inboxId, {})).toMatchObject({ inboxId })
    },
    'inboxes.apiKeys.update': async () => {
      const inboxId = await newInbox()
      const { apiKeyId } = await my().inboxes.apiKeys.create(inboxId, {})
      expect(await my().inboxes.apiKeys.update(inboxId, apiKeyId, { name: 'B' })).toMatchObject({ name: 'B', inboxId })
    },
    'inboxes.apiKeys.delete': async () => {
      const inboxId = await newInbox()
      await my().inboxes.apiKeys.delete(inboxId, (await my().inboxes.apiKeys.create(inboxId, {})).apiKeyId)
      expect((await my().inboxes.apiKeys.list(inboxId)).apiKeys).toEqual([])
    },

    'pods.apiKeys.list': async () => expect((await my().pods.apiKeys.list(await newPod())).apiKeys).toEqual([]),
    'pods.apiKeys.create': async () => {
      const podId = await newPod()
      expect(await my().pods.apiKeys.create(podId, {})).toMatchObject({ podId })
    },
    'pods.apiKeys.update': async () => {
      const podId = await newPod()
      const { apiKeyId } = await my().pods.apiKeys.create(podId, {})
      expect(await my().pods.apiKeys.update(podId, apiKeyId, { name: 'B' })).toMatchObject({ name: 'B', podId })
    },
    'pods.apiKeys.delete': async () => {
      const podId = await newPod()
      await my().pods.apiKeys.delete(podId, (await my().pods.apiKeys.create(podId, {})).apiKeyId)
      expect((await my().pods.apiKeys.list(podId)).apiKeys).toEqual([])
    },

    'pods.list': async () => expect((await my().pods.list({ limit: 1 })).pods).toHaveLength(1),
    'pods.get': async () => expect(await my().pods.get(await newPod())).toMatchObject({ name: 'A pod' }),
    'pods.create': async () => {
      const clientId = newUsername('pod')
      const pod = await my().pods.create({ name: 'Team', clientId })
      expect(await my().pods.create({ clientId })).toEqual(pod)
    },
    'pods.delete': async () => {
      const podId = await newPod()
      await my().pods.delete(podId)
      await expect(my().pods.get(podId)).rejects.toMatchObject({ statusCode: 404 })
    },

    'inboxes.list': async () => expect((await my().inboxes.list({ limit: 1 })).limit).toBe(1),
    'inboxes.search': async () => {
      const inboxId = await newInbox()
      const { inboxes } = await my().inboxes.search({ q: inboxId })
      expect(inboxes.map((inbox) => inbox.inboxId)).toEqual([inboxId])
    },
    'inboxes.get': async () => {
      const inboxId = await newInbox()
      expect(await my().inboxes.get(inboxId)).toMatchObject({ inboxId, email: inboxId })
    },
    'inboxes.create': async () => expect((await my().inboxes.create()).inboxId).toContain('@'),
    'inboxes.update': async () =>
      expect(await my().inboxes.update(await newInbox(), { displayName: 'B' })).toMatchObject({ displayName: 'B' }),
    'inboxes.delete': async () => my().inboxes.delete(await newInbox()),

    'pods.inboxes.list': async () => {
      const inbox = await inPod()
      expect((await my().pods.inboxes.list(inbox.podId)).inboxes).toEqual([inbox])
    },
    'pods.inboxes.search': async () => {
      const inbox = await inPod()
      expect((await my().pods.inboxes.search(inbox.podId, { q: inbox.inboxId })).inboxes).toEqual([inbox])
    },
    'pods.inboxes.get': async () => {
      const inbox = await inPod()
      expect(await my().pods.inboxes.get(inbox.podId, inbox.inboxId)).toEqual(inbox)
    },
    'pods.inboxes.create': async () => expect((await inPod()).createdAt).toBeInstanceOf(Date),
    'pods.inboxes.update': async () => {
      const { podId, inboxId } = await inPod()
      expect(await my().pods.inboxes.update(podId, inboxId, { displayName: 'B' })).toMatchObject({ displayName: 'B' })
    },
    'pods.inboxes.delete': async () => {
      const { podId, inboxId } = await inPod()
      await my().pods.inboxes.delete(podId, inboxId)
      expect((await my().pods.inboxes.list(podId)).inboxes).toEqual([])
    },
  }

  const offered = methodsOf(new AgentMailClient({ apiKey: 'none' }))

  it('has a call for every method whose operation is offered', () => {
    expect(
      Object.keys(calls)
        .filter((method) => isOffered(method))
        .toSorted(),
    ).toEqual(offered.toSorted())
  })

  it.each(offered)('%s', async (method) => {
    await calls[method]?.()
  })

  async function signUp() {
    const anonymous = new AgentMailClient({ baseUrl: system.endpoints.gatewayUrl, apiKey: '', maxRetries: 0 })
    const human = system.peer.address(newUsername('human'))
    return { human, ...(await anonymous.agent.signUp({ username: newUsername('agent'), humanEmail: human })) }
  }
})

/** The methods of the client with an existing operation, by their path: `pods.inboxes.list`. */
function methodsOf(client: AgentMailClient): string[] {
  return Object.entries(resourcesOf(client)).flatMap(([resource, object]) =>
    Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(object)))
      .filter(([name, { value }]) => typeof value === 'function' && /^[a-z]/.test(name) && name !== 'constructor')
      .map(([name]) => `${resource}.${name}`)
      .filter(isOffered),
  )
}

/** `pods.inboxes.list` is the operation `inboxes.list`, under the prefix of a pod. */
function isOffered(method: string): boolean {
  return isOperationId(method.split('.').slice(-2).join('.'))
}
