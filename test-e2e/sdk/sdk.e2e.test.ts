import { AgentMail, AgentMailClient, AgentMailError } from 'agentmail'
import { newDomainName } from '../support/organizations.ts'
import { secretOf } from '../support/sdk.ts'
import { useSystem } from '../support/suite.ts'
import { clientOf, newUsername } from '../support/tenants.ts'

describe('the public client', () => {
  const system = useSystem()

  describe('identity', () => {
    it('reports its identity at each tier', async () => {
      const me = await system.tenant.client.auth.me()
      expect(me).toMatchObject({
        scopeType: 'organization',
        scopeId: system.tenant.id,
        organizationId: system.tenant.id,
      })
      const { inboxId, podId } = await system.tenant.client.inboxes.create({})
      const pod = secretOf(await system.tenant.client.pods.apiKeys.create(podId, {}))
      expect(await clientOf(system.endpoints, pod).auth.me()).toMatchObject({ scopeType: 'pod', podId })
      const bound = secretOf(await system.tenant.client.inboxes.apiKeys.create(inboxId, {}))
      expect(await clientOf(system.endpoints, bound).auth.me()).toMatchObject({ scopeType: 'inbox', inboxId, podId })
    })

    it('reads its organization', async () => {
      expect(await system.tenant.client.organizations.get()).toMatchObject({
        organizationId: system.tenant.id,
        inboxCount: expect.any(Number),
      })
    })

    it('creates pods, works in one by its client_id, and deletes it with its keys', async () => {
      const { client } = system.tenant
      const clientId = newUsername('pod')
      const pod = await client.pods.create({ name: 'Sales', clientId })
      expect(pod).toMatchObject({ name: 'Sales', clientId, createdAt: expect.any(Date) })
      expect(await client.pods.create({ clientId })).toEqual(pod)
      expect(await client.pods.get(clientId)).toEqual(pod)
      const { inboxId, podId } = await client.pods.inboxes.create(clientId, {})
      expect(podId).toBe(pod.podId)
      const key = secretOf(await client.pods.apiKeys.create(clientId, {}))
      await expect(client.pods.delete(pod.podId)).rejects.toMatchObject({
        statusCode: 409,
        body: expect.objectContaining({ code: 'cannot_delete', message: 'The pod still holds 1 inbox' }),
      })
      await client.inboxes.delete(inboxId)
      await client.pods.delete(clientId)
      await expect(client.pods.get(pod.podId)).rejects.toBeInstanceOf(AgentMail.NotFoundError)
      await expect(clientOf(system.endpoints, key).auth.me()).rejects.toMatchObject({ statusCode: 401 })
      expect((await client.pods.create({ clientId })).podId).not.toBe(pod.podId)
    })

    it('lists pods and gets one', async () => {
      const { pods, count } = await system.tenant.client.pods.list()
      expect(count).toBe(pods.length)
      expect(pods.map(({ podId }) => podId)).toContain(system.tenant.id)
      expect(await system.tenant.client.pods.get(system.tenant.id)).toMatchObject({
        podId: system.tenant.id,
        createdAt: expect.any(Date),
      })
    })

    it('signs up', async () => {
      const username = newUsername('agent')
      const anonymous = new AgentMailClient({ baseUrl: system.endpoints.gatewayUrl, apiKey: '', maxRetries: 0 })
      const answer = await anonymous.agent.signUp({ username, humanEmail: system.peer.address(newUsername('human')) })
      expect(answer).toMatchObject({
        inboxId: `${username}@${system.endpoints.domain}`,
        apiKey: expect.stringMatching(/^am_us_/),
      })
    })
  })

  describe('API keys', () => {
    it('are created, listed, read, changed and deleted', async () => {
      const created = await system.tenant.client.apiKeys.create({
        name: 'reader',
        permissions: { messageRead: true, inboxRead: true },
      })
      const { apiKeyId } = created
      expect(created).toMatchObject({ name: 'reader', permissions: { messageRead: true, inboxRead: true } })
      expect(await system.tenant.client.apiKeys.get(apiKeyId)).toMatchObject({ type: 'bearer', name: 'reader' })
      expect((await system.tenant.client.apiKeys.list({ limit: 100 })).apiKeys.map((key) => key.apiKeyId)).toContain(
        apiKeyId,
      )
      const changed = await system.tenant.client.apiKeys.update(apiKeyId, {
        name: 'writer',
        permissions: { inboxUpdate: true },
      })
      expect(changed).toMatchObject({ name: 'writer', permissions: { messageRead: true, inboxUpdate: true } })
      await system.tenant.client.apiKeys.delete(apiKeyId)
      await expect(system.tenant.client.apiKeys.get(apiKeyId)).rejects.toBeInstanceOf(AgentMail.NotFoundError)
    })

    it('exist at the tiers of pod and inbox', async () => {
      const { inboxId, podId } = await system.tenant.client.inboxes.create({})
      const bound = await system.tenant.client.inboxes.apiKeys.create(inboxId, { name: 'bound' })
      expect((await system.tenant.client.inboxes.apiKeys.list(inboxId)).apiKeys).toEqual([
        expect.objectContaining({ inboxId }),
      ])
      await system.tenant.client.inboxes.apiKeys.update(inboxId, bound.apiKeyId, { name: 'renamed' })
      const inPod = await system.tenant.client.pods.apiKeys.create(podId, { name: 'pod key' })
      expect(inPod).toMatchObject({ podId, name: 'pod key' })
      const names = (await system.tenant.client.pods.apiKeys.list(podId)).apiKeys.map(({ name }) => name)
      expect(names).toEqual(expect.arrayContaining(['renamed', 'pod key']))
      await system.tenant.client.pods.apiKeys.update(podId, inPod.apiKeyId, { name: 'other' })
      await system.tenant.client.pods.apiKeys.delete(podId, inPod.apiKeyId)
      await system.tenant.client.inboxes.apiKeys.delete(inboxId, bound.apiKeyId)
      await expect(clientOf(system.endpoints, secretOf(bound)).auth.me()).rejects.toMatchObject({ statusCode: 401 })
    })
  })

  describe('inboxes', () => {
    it('are created, read, listed, changed, paused and deleted', async () => {
      const username = newUsername()
      const inbox = await system.tenant.client.inboxes.create({
        username,
        displayName: 'Desk',
        clientId: `desk-${username}`,
        metadata: { team: 'a', seats: 3, live: true },
      })
      const inboxId = `${username}@${system.endpoints.domain}`
      expect(inbox).toMatchObject({
        inboxId,
        email: inboxId,
        displayName: 'Desk',
        metadata: { team: 'a', seats: 3, live: true },
      })
      expect(inbox.createdAt).toBeInstanceOf(Date)
      expect(await system.tenant.client.inboxes.get(inboxId)).toEqual(inbox)
      expect(await system.tenant.client.inboxes.create({ clientId: `desk-${username}` })).toEqual(inbox)
      expect((await system.tenant.client.inboxes.list({ limit: 1 })).inboxes).toEqual([inbox])
      const updated = await system.tenant.client.inboxes.update(inboxId, {
        displayName: 'Front desk',
        metadata: { seats: null, team: 'b' },
      })
      expect(updated).toMatchObject({ displayName: 'Front desk', metadata: { team: 'b', live: true } })
      const paused = await system.tenant.api.patch(`/v0/inboxes/${encodeURIComponent(inboxId)}`, { status: 'paused' })
      expect(paused).toMatchObject({ status: 200, body: { status: 'paused' } })
      await system.tenant.client.inboxes.delete(inboxId)
      await expect(system.tenant.client.inboxes.get(inboxId)).rejects.toBeInstanceOf(AgentMail.NotFoundError)
    })

    it('are made without a body, and in a pod', async () => {
      expect((await system.tenant.client.inboxes.create()).inboxId).toMatch(
        new RegExp(`^[a-z]+\\d+@${system.endpoints.domain}$`),
      )
      const inbox = await system.tenant.client.pods.inboxes.create(system.tenant.id, {})
      expect(await system.tenant.client.pods.inboxes.get(system.tenant.id, inbox.inboxId)).toEqual(inbox)
      expect((await system.tenant.client.pods.inboxes.list(system.tenant.id)).inboxes).toContainEqual(inbox)
      await system.tenant.client.pods.inboxes.update(system.tenant.id, inbox.inboxId, { displayName: 'P' })
      await system.tenant.client.pods.inboxes.delete(system.tenant.id, inbox.inboxId)
    })

    it('are searched, in the organization and in a pod', async () => {
      const { client } = system.tenant
      const username = newUsername('find')
      const inbox = await client.inboxes.create({ username, displayName: 'Zoë Searched' })
      const other = await client.inboxes.create({ displayName: `About ${username}` })
      expect((await client.inboxes.search({ q: username })).inboxes).toEqual([inbox, other])
      expect((await client.pods.inboxes.search(system.tenant.id, { q: 'zoe sea' })).inboxes).toContainEqual(inbox)
      const first = await client.inboxes.search({ q: username, limit: 1 })
      expect(first).toMatchObject({ count: 1, limit: 1, inboxes: [inbox] })
      const next = await client.inboxes.search({ q: username, limit: 1, pageToken: first.nextPageToken ?? '' })
      expect(next.inboxes).toEqual([other])
      expect(next.nextPageToken).toBeUndefined()
      await expect(client.inboxes.search({ q: 'a' })).rejects.toBeInstanceOf(AgentMail.ValidationError)
    })

    it('are listed page by page, each once', async () => {
      const made = [
        await system.tenant.client.inboxes.create({}),
        await system.tenant.client.inboxes.create({}),
        await system.tenant.client.inboxes.create({}),
      ]
      const seen: string[] = []
      let pageToken: string | undefined
      do {
        const page = await system.tenant.client.inboxes.list({
          limit: 2,
          ...(pageToken !== undefined && { pageToken }),
        })
        expect(page.limit).toBe(2)
        seen.push(...page.inboxes.map(({ inboxId }) => inboxId))
        pageToken = page.nextPageToken
      } while (pageToken !== undefined)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen).toEqual(expect.arrayContaining(made.map(({ inboxId }) => inboxId)))
    })
  })

  describe('domains', () => {
    it('are created, listed, read, changed, verified and deleted in each scope, and their zone file is downloaded', async () => {
      const { client, id } = system.tenant
      const domain = await client.domains.create({ domain: newDomainName(), subdomainsEnabled: true })
      expect(domain).toMatchObject({ status: 'NOT_STARTED', subdomainsEnabled: true, trackingEnabled: false })
      const inPod = await client.pods.domains.create(id, { domain: newDomainName() })
      expect(inPod.podId).toBe(id)
      const ids = async (page: Promise<{ domains: { domainId: string }[] }>) =>
        (await page).domains.map(({ domainId }) => domainId)
      expect((await ids(client.domains.list())).slice(0, 2)).toEqual([inPod.domainId, domain.domainId])
      expect(await ids(client.pods.domains.list(id))).toEqual([inPod.domainId])
      expect(await client.domains.get(domain.domainId)).toMatchObject({ domainId: domain.domainId })
      expect(await client.pods.domains.get(id, inPod.domainId)).toMatchObject({ domainId: inPod.domainId })
      expect(await client.domains.update(domain.domainId, { feedbackEnabled: false })).toMatchObject({
        feedbackEnabled: false,
        subdomainsEnabled: true,
      })
      expect(await client.pods.domains.update(id, inPod.domainId, { subdomainsEnabled: true })).toMatchObject({
        subdomainsEnabled: true,
      })
      await client.domains.verify(domain.domainId)
      await client.pods.domains.verify(id, inPod.domainId)
      expect(await client.domains.get(domain.domainId)).toMatchObject({
        status: 'PENDING',
        reason: 'dns_records_missing',
      })
      expect(await client.domains.getSetupLink(domain.domainId)).toEqual({ supported: false })
      for (const [file, { records }] of [
        [await client.domains.getZoneFile(domain.domainId), domain],
        [await client.pods.domains.getZoneFile(id, inPod.domainId), inPod],
      ] as const) {
        const lines = Buffer.from(await file.arrayBuffer())
          .toString()
          .trimEnd()
          .split('\n')
        const needed = records.length + (records === inPod.records ? 1 : 0)
        expect(lines).toHaveLength(needed)
        for (const { name } of records) expect(lines).toContainEqual(expect.stringContaining(`${name}. `))
      }
      await client.domains.delete(domain.domainId)
      await client.pods.domains.delete(id, inPod.domainId)
      await expect(client.domains.get(domain.domainId)).rejects.toMatchObject({ statusCode: 404 })
    })
  })

  describe('webhooks', () => {
    it('are created, listed, read, changed and deleted in each scope', async () => {
      const { inboxId } = await system.tenant.client.inboxes.create({})
      const url = 'http://127.0.0.1:9/hook'
      const webhook = await system.tenant.client.webhooks.create({
        url,
        eventTypes: ['message.received'],
        inboxIds: [inboxId],
        clientId: newUsername('hook'),
      })
      expect(webhook).toMatchObject({ url, enabled: true, eventTypes: ['message.received'], inboxIds: [inboxId] })
      expect(webhook.secret).toMatch(/^whsec_/)
      expect(await system.tenant.client.webhooks.get(webhook.webhookId)).toEqual(webhook)
      const inPod = await system.tenant.client.pods.webhooks.create(system.tenant.id, {
        url,
        eventTypes: ['message.sent'],
      })
      expect(await system.tenant.client.pods.webhooks.get(system.tenant.id, inPod.webhookId)).toEqual(inPod)
      const inInbox = await system.tenant.client.inboxes.webhooks.create(inboxId, { url, eventTypes: ['message.sent'] })
      expect((await system.tenant.client.inboxes.webhooks.list(inboxId)).webhooks).toEqual([inInbox])
      expect((await system.tenant.client.pods.webhooks.list(system.tenant.id)).webhooks).toEqual([inInbox, inPod])
      expect((await system.tenant.client.webhooks.list()).webhooks).toEqual([inInbox, inPod, webhook])
      const { client } = system.tenant
      expect(await client.webhooks.update(webhook.webhookId, { eventTypes: ['message.sent'] })).toMatchObject({
        eventTypes: ['message.sent'],
        inboxIds: [inboxId],
        secret: webhook.secret,
      })
      expect(
        await client.pods.webhooks.update(system.tenant.id, inPod.webhookId, { addInboxIds: [inboxId] }),
      ).toMatchObject({ podIds: [system.tenant.id], enabled: true })
      await client.inboxes.webhooks.updateHeaders(inboxId, inInbox.webhookId, { headers: { 'X-Tenant': 'one' } })
      expect(await client.webhooks.getHeaders(inInbox.webhookId)).toEqual({ headerNames: ['X-Tenant'] })
      await system.tenant.client.inboxes.webhooks.delete(inboxId, inInbox.webhookId)
      await system.tenant.client.pods.webhooks.delete(system.tenant.id, inPod.webhookId)
      await system.tenant.client.webhooks.delete(webhook.webhookId)
      expect((await system.tenant.client.webhooks.list()).webhooks).toEqual([])
    })
  })

  describe('lists', () => {
    it('are kept in each scope, and an entry of an inbox holds against those of its organization', async () => {
      const { client, id: podId } = system.tenant
      const { inboxId } = await client.inboxes.create({})
      const address = system.peer.address(newUsername())
      const domain = address.slice(address.indexOf('@') + 1)
      const entry = await client.lists.create('send', 'block', { entry: address.toUpperCase(), reason: 'a test' })
      expect(entry).toMatchObject({ entry: address, entryType: 'email', listType: 'block', reason: 'a test' })
      expect(await client.lists.get('send', 'block', address)).toEqual(entry)
      expect((await client.lists.list('send', 'block')).entries).toContainEqual(entry)
      const mail = { to: address, text: 'Hello' }
      await expect(client.inboxes.messages.send(inboxId, mail)).rejects.toThrow('in block list')
      const inPod = await client.pods.lists.create(podId, 'receive', 'block', { entry: domain })
      expect((await client.pods.lists.list(podId, 'receive', 'block')).entries).toEqual([inPod])
      await client.pods.lists.delete(podId, 'receive', 'block', domain)
      const inInbox = await client.inboxes.lists.create(inboxId, 'send', 'allow', { entry: domain })
      expect((await client.inboxes.lists.list(inboxId, 'send', 'allow')).entries).toEqual([inInbox])
      expect((await client.inboxes.messages.send(inboxId, mail)).messageId).toBeDefined()
      await client.inboxes.lists.delete(inboxId, 'send', 'allow', domain)
      await client.lists.delete('send', 'block', address)
      await expect(client.lists.get('send', 'block', address)).rejects.toThrow('List entry not found')
    })
  })

  describe('errors', () => {
    it('arrive as the classes that the client knows', async () => {
      const { inboxId } = await system.tenant.client.inboxes.create({})
      await expect(system.tenant.client.inboxes.get('nobody@restante.test')).rejects.toMatchObject({
        statusCode: 404,
        body: { name: 'NotFoundError', message: 'Inbox not found' },
      })
      await expect(system.tenant.client.inboxes.list({ limit: 0 })).rejects.toMatchObject({
        statusCode: 400,
        body: { name: 'ValidationError', errors: [{ path: ['limit'] }] },
      })
      await expect(system.tenant.client.inboxes.create({ username: 'not valid' })).rejects.toBeInstanceOf(
        AgentMail.ValidationError,
      )
      await expect(system.tenant.client.inboxes.messages.send(inboxId, { text: 'To nobody' })).rejects.toMatchObject({
        statusCode: 422,
        body: { code: 'unprocessable' },
      })
      await expect(
        system.tenant.client.inboxes.create({ username: inboxId.split('@')[0] ?? '' }),
      ).rejects.toMatchObject({
        statusCode: 403,
        body: expect.objectContaining({ code: 'already_exists' }),
      })
      await expect(clientOf(system.endpoints, 'am_us_unknown').auth.me()).rejects.toBeInstanceOf(AgentMailError)
      await expect(clientOf(system.endpoints, 'am_us_unknown').auth.me()).rejects.toMatchObject({ statusCode: 401 })
    })
  })
})
