import { HandshakeRefusedError, leastOf, StreamClient, underLoad } from '@restante/testkit'
import { mailTo, SPAM_TEXT } from '../support/mail.ts'
import { secretOf } from '../support/sdk.ts'
import { connectStream, openStream } from '../support/streams.ts'
import { useSystem } from '../support/suite.ts'

describe('the stream', () => {
  const system = useSystem()
  const newInbox = async () => (await system.tenant.client.inboxes.create({})).inboxId
  type Permissions = NonNullable<NonNullable<Parameters<typeof system.tenant.client.apiKeys.create>[0]>['permissions']>
  const keyWith = async (permissions: Permissions) =>
    secretOf(await system.tenant.client.apiKeys.create({ permissions }))

  const send = async (inboxId: string, text = 'Text') => (await mailTo(system, inboxId, { text })).messageId
  const eventOf = (stream: StreamClient, messageId: string) =>
    stream.next((event) => JSON.stringify(event).includes(JSON.stringify(messageId)), {
      what: `an event of ${messageId}`,
    })
  const typesOf = (stream: StreamClient) => stream.events.map((event) => event['event_type'])

  describe('the handshake', () => {
    it('is refused with 403 and the bare body without a key, and with an unknown one', async () => {
      const refusal = new HandshakeRefusedError(403, '{"message":"Forbidden"}')
      await expect(StreamClient.open(system.endpoints.streamUrl)).rejects.toEqual(refusal)
      await expect(connectStream(system.endpoints, `am_us_${'0'.repeat(64)}`)).rejects.toEqual(refusal)
    })

    it('takes the key from a header or from the query', async () => {
      for (const name of ['api_key', 'auth_token']) {
        const stream = await StreamClient.open(`${system.endpoints.streamUrl}?${name}=${system.tenant.key}`)
        expect(await stream.ask({ type: 'subscribe' })).toMatchObject({
          type: 'subscribed',
          organization_id: system.tenant.id,
        })
        await stream.close()
      }
    })

    it('is required by a 426 for a plain request', async () => {
      expect(await system.tenant.api.get('/v0')).toMatchObject({ status: 426 })
    })
  })

  describe('subscriptions', () => {
    it('are answered with the requested lists', async () => {
      const inboxId = await newInbox()
      const stream = await connectStream(system.endpoints, system.tenant.key)
      const filter = { event_types: ['message.received'], inbox_ids: [inboxId], pod_ids: [system.tenant.id] }
      expect(await stream.ask({ type: 'subscribe', ...filter })).toEqual({
        type: 'subscribed',
        organization_id: system.tenant.id,
        ...filter,
      })
      await stream.close()
    })

    it('replace the types of the same inbox', async () => {
      const inboxId = await newInbox()
      const stream = await openStream(system.endpoints, system.tenant.key, {
        inbox_ids: [inboxId],
        event_types: ['message.sent'],
      })
      await stream.ask({ type: 'subscribe', inbox_ids: [inboxId], event_types: ['message.received'] })
      await system.tenant.client.inboxes.messages.send(inboxId, { to: system.peer.address(), text: 'Out' })
      const messageId = await send(inboxId)
      await eventOf(stream, messageId)
      expect(typesOf(stream)).toEqual(['message.received'])
      await stream.close()
    })

    it('end when asked to', async () => {
      const [quiet, loud] = [await newInbox(), await newInbox()]
      const stream = await openStream(system.endpoints, system.tenant.key, { inbox_ids: [quiet, loud] })
      expect(await stream.ask({ type: 'unsubscribe', inbox_ids: [quiet] })).toEqual({
        type: 'unsubscribed',
        organization_id: system.tenant.id,
        inbox_ids: [quiet],
      })
      await send(quiet)
      await eventOf(stream, await send(loud))
      expect(stream.events).toHaveLength(1)
      await stream.close()
    })

    it('are all or nothing, and leave the connection open when they are refused', async () => {
      const inboxId = await newInbox()
      const stream = await connectStream(system.endpoints, system.tenant.key)
      const cases = [
        [
          { event_types: ['message.unknown'] },
          { code: 'validation_error', errors: [{ path: ['event_types', 0], message: expect.any(String) }] },
        ],
        [{ inbox_ids: [inboxId, 'nobody@restante.test'] }, { code: 'not_found', message: 'Inbox not found' }],
        [
          { inbox_ids: Array.from({ length: 11 }, (_, index) => `${index}@restante.test`) },
          { code: 'validation_error' },
        ],
      ] as const
      for (const [filter, error] of cases) {
        expect(await stream.ask({ type: 'subscribe', ...filter })).toMatchObject({ type: 'error', ...error })
      }
      expect(await stream.ask({ type: 'hello' })).toEqual({ message: 'Forbidden' })
      expect(await stream.ask('no json')).toEqual({ message: 'Forbidden' })
      // The witness has received the event: 250 alone does not guarantee that it was published before the next
      // subscription.
      const witness = await connectStream(system.endpoints, system.tenant.key)
      await witness.ask({ type: 'subscribe', inbox_ids: [inboxId] })
      await eventOf(witness, await send(inboxId))
      await stream.ask({ type: 'subscribe', inbox_ids: [inboxId] })
      await eventOf(stream, await send(inboxId))
      expect(stream.events).toHaveLength(1)
      await Promise.all([stream.close(), witness.close()])
    })
  })

  describe('permissions', () => {
    it('deliver spam once to a subscription that names it, and never to one without types, whatever its key may see', async () => {
      const inboxId = await newInbox()
      const key = await keyWith({ messageRead: true, labelSpamRead: true })
      const blind = await openStream(system.endpoints, key)
      const seeing = await openStream(system.endpoints, key, {
        event_types: ['message.received', 'message.received.spam'],
      })
      const spam = await send(inboxId, SPAM_TEXT)
      const honest = await send(inboxId)
      await Promise.all([eventOf(blind, honest), eventOf(seeing, honest)])
      expect(typesOf(blind)).toEqual(['message.received'])
      expect(typesOf(seeing)).toEqual(['message.received.spam', 'message.received'])
      expect(await eventOf(seeing, spam)).toMatchObject({ message: { labels: ['received', 'unread', 'spam'] } })
      await Promise.all([blind.close(), seeing.close()])
    })

    it('refuse a type by name, and leave the connection open', async () => {
      const stream = await connectStream(system.endpoints, await keyWith({ messageRead: true }))
      expect(await stream.ask({ type: 'subscribe', event_types: ['message.received.blocked'] })).toMatchObject({
        type: 'error',
        name: 'ForbiddenError',
        code: 'missing_permission',
        message: 'label_blocked_read is forbidden',
      })
      expect(await stream.ask({ type: 'subscribe' })).toMatchObject({ type: 'subscribed' })
      await stream.close()
    })

    it('give no mail event to a key that may not read mail', async () => {
      const inboxId = await newInbox()
      const stream = await connectStream(system.endpoints, await keyWith({ webhookCreate: true }))
      expect(await stream.ask({ type: 'subscribe', event_types: ['message.sent'] })).toMatchObject({
        type: 'error',
        message: 'message_read is forbidden',
      })
      expect(await stream.ask({ type: 'subscribe' })).toMatchObject({ type: 'subscribed' })
      const witness = await openStream(system.endpoints, system.tenant.key)
      await eventOf(witness, await send(inboxId))
      await stream.ask({ type: 'subscribe' })
      expect(stream.events).toEqual([])
      await Promise.all([stream.close(), witness.close()])
    })

    it('confine an inbox key to its inbox', async () => {
      const [own, other] = [await newInbox(), await newInbox()]
      const stream = await openStream(
        system.endpoints,
        secretOf(await system.tenant.client.inboxes.apiKeys.create(own, {})),
      )
      expect(await stream.ask({ type: 'subscribe', inbox_ids: [other] })).toMatchObject({
        type: 'error',
        code: 'not_found',
      })
      expect(await stream.ask({ type: 'subscribe', pod_ids: [system.tenant.id] })).toMatchObject({
        type: 'error',
        code: 'forbidden',
      })
      await send(other)
      await eventOf(stream, await send(own))
      expect(stream.events).toHaveLength(1)
      await stream.close()
    })
  })

  it('closes with 1008 within a second of the deletion of its key', async () => {
    const limit = underLoad(2_000)
    const closing = await leastOf(limit, async () => {
      const created = await system.tenant.client.apiKeys.create({})
      const stream = await openStream(system.endpoints, secretOf(created))
      await system.tenant.client.apiKeys.delete(created.apiKeyId)
      const began = performance.now()
      await stream.ended({ what: 'the stream to close' })
      expect(stream.closed?.code).toBe(1008)
      return performance.now() - began
    })
    expect(closing).toBeLessThan(limit)
  })

  it('reaches every connection, each event once', async () => {
    const inboxId = await newInbox()
    const streams = await Promise.all(
      Array.from({ length: 20 }, () => openStream(system.endpoints, system.tenant.key, { inbox_ids: [inboxId] })),
    )
    const ids = [await send(inboxId), await send(inboxId), await send(inboxId)]
    for (const stream of streams) {
      for (const id of ids) await eventOf(stream, id)
      expect(stream.events).toHaveLength(3)
    }
    await Promise.all(streams.map((stream) => stream.close()))
  })
})
