import { setTimeout as pause } from 'node:timers/promises'
import { publicEvent } from '@restante/contracts/events'
import { operate, verifyWebhook, WebhookReceiver, type WebhookRequest, waitFor } from '@restante/testkit'
import { Api } from '../support/api.ts'
import { mailTo, SPAM_TEXT } from '../support/mail.ts'
import { secretOf } from '../support/sdk.ts'
import { openStream } from '../support/streams.ts'
import { useSystem } from '../support/suite.ts'
import { letTimePass } from '../support/time.ts'

describe('webhooks', () => {
  const system = useSystem()
  let receiver: WebhookReceiver
  beforeEach(async () => {
    receiver = await new WebhookReceiver().start()
  })
  afterEach(() => receiver.stop())

  const newInbox = async () => (await system.tenant.client.inboxes.create({})).inboxId
  type Creation = Parameters<typeof system.tenant.client.webhooks.create>[0]
  const hook = (request: Partial<Creation>) =>
    system.tenant.client.webhooks.create({ url: receiver.url, eventTypes: ['message.received'], ...request })

  const send = async (inboxId: string, text = 'Text') => (await mailTo(system, inboxId, { text })).messageId
  const about = (messageId: string) => receiver.requests.filter(({ body }) => body.includes(JSON.stringify(messageId)))
  const delivered = (messageId: string, count = 1) =>
    waitFor(() => about(messageId).length >= count && about(messageId), {
      what: `${count} requests about ${messageId}`,
    })
  const svixIds = (requests: readonly WebhookRequest[]) => requests.map(({ headers }) => headers['svix-id'])

  it('are signed so that independent libraries verify them, under both names', async () => {
    const inboxId = await newInbox()
    const { secret } = await hook({ inboxIds: [inboxId], headers: { 'X-Token': 'mine' } })
    const [request] = await delivered(await send(inboxId))
    if (!request) throw new Error('no request')
    expect(verifyWebhook(secret, request)).toMatchObject({ type: 'event', event_type: 'message.received' })
    const { headers } = request
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-token': 'mine' })
    expect(headers['svix-id']).toMatch(/^msg_[0-9A-Za-z]{27}$/)
    for (const name of ['id', 'timestamp', 'signature'])
      expect(headers[`webhook-${name}`]).toBe(headers[`svix-${name}`])
  })

  /** Has the next attempt made once the one before is recorded, and a second later: signatures tell whole seconds. */
  async function nextAttempt(webhookId: string, messageId: string, made: number) {
    await waitFor(
      async () => {
        const { body } = await system.tenant.api.get(`/v0/webhooks/${webhookId}/deliveries`)
        return JSON.stringify(body).split('"attempted_at"').length > made
      },
      { what: `${made} attempts to be recorded` },
    )
    await pause(1_000)
    await letTimePass(system.endpoints, 'webhooks-dispatcher')
    return delivered(messageId, made + 1)
  }

  it('are retried with the same id and body and a new, valid signature, until the receiver accepts them', async () => {
    const inboxId = await newInbox()
    const { webhookId, secret } = await hook({ inboxIds: [inboxId] })
    receiver.script(500, 500, 200)
    const messageId = await send(inboxId)
    await nextAttempt(webhookId, messageId, 1)
    const requests = await nextAttempt(webhookId, messageId, 2)
    expect(new Set(svixIds(requests)).size).toBe(1)
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1)
    expect(new Set(requests.map(({ headers }) => headers['svix-timestamp'])).size).toBe(3)
    for (const request of requests) verifyWebhook(secret, request)
    await letTimePass(system.endpoints, 'webhooks-dispatcher')
    await send(inboxId)
    expect(about(messageId)).toHaveLength(3)
  })

  it('carry the same document as the frame on a stream, which fits the schema of its type', async () => {
    const inboxId = await newInbox()
    await hook({ inboxIds: [inboxId], eventTypes: ['message.received', 'message.sent', 'message.delivered'] })
    const stream = await openStream(system.endpoints, system.tenant.key, { inbox_ids: [inboxId] })
    await send(inboxId, 'Grüße ✓ \u2028')
    const to = system.peer.address()
    await system.tenant.client.inboxes.messages.send(inboxId, { to, subject: 'Pong', text: 'Yes' })
    await waitFor(() => stream.events.length >= 3 && receiver.requests.length >= 3, { what: 'three events on both' })
    const frames = stream.events.map((event) => JSON.stringify(event))
    expect(receiver.requests.map(({ body }) => body).toSorted()).toEqual(frames.toSorted())
    for (const event of stream.events) expect(publicEvent.parse(event)).toEqual(event)
    await stream.close()
  })

  it('are sent again on request under the same id, until their message is deleted', async () => {
    const inboxId = await newInbox()
    const { webhookId, secret } = await hook({ inboxIds: [inboxId] })
    const messageId = await send(inboxId)
    const [first] = await delivered(messageId)
    const id = String(first?.headers['svix-id'])
    const retry = () => system.tenant.api.post(`/v0/webhooks/${webhookId}/deliveries/${id}/retry`, {})
    // Until its success is recorded, a retry would only bring forward an attempt that is no longer needed.
    await waitFor(
      async () => {
        const { body } = await system.tenant.api.get(`/v0/webhooks/${webhookId}/deliveries`)
        return JSON.stringify(body).includes('"state":"delivered"')
      },
      { what: 'the delivery to have ended' },
    )
    expect((await retry()).status).toBe(200)
    const [, again] = await delivered(messageId, 2)
    expect([again?.headers['svix-id'], again?.body]).toEqual([id, first?.body])
    if (again) verifyWebhook(secret, again)
    await operate(system.endpoints.operator, 'webhooks', 'log', webhookId, '--last', '1h')
    const replayed = await waitFor(
      async () => {
        const words = ['replay-range', webhookId, '--from', '1h', '--dry-run']
        const said = await operate(system.endpoints.operator, 'webhooks', ...words)
        return said.startsWith('Events of the webhook: 1,') && said
      },
      { what: 'the event to be replayable' },
    )
    expect(replayed).toContain('Nothing was sent')
    await operate(system.endpoints.operator, 'webhooks', 'replay', webhookId, id)
    await delivered(messageId, 3)
    await system.tenant.client.inboxes.messages.delete(inboxId, messageId)
    const refused = await waitFor(
      async () => {
        const answer = await retry()
        return answer.status === 409 && answer
      },
      { what: 'the retry to be refused' },
    )
    expect(refused.body).toMatchObject({ code: 'conflict', message: 'The message of this event is deleted' })
    expect(about(messageId).length).toBeGreaterThanOrEqual(3)
  })

  it('do not follow redirects', async () => {
    const inboxId = await newInbox()
    const target = await new WebhookReceiver().start()
    await hook({ inboxIds: [inboxId] })
    receiver.script({ status: 302, headers: { location: target.url } }, 200)
    const messageId = await send(inboxId)
    await delivered(messageId)
    await letTimePass(system.endpoints, 'webhooks-dispatcher')
    expect(svixIds(await delivered(messageId, 2))).toHaveLength(2)
    expect(target.requests).toEqual([])
    await target.stop()
  })

  it('are sent once, however many of their filters match', async () => {
    const inboxId = await newInbox()
    await hook({ inboxIds: [inboxId], podIds: [system.tenant.id] })
    const first = await send(inboxId)
    const second = await send(inboxId)
    await delivered(second)
    expect(about(first)).toHaveLength(1)
    expect(about(second)).toHaveLength(1)
  })

  it('report spam only to webhooks that subscribed to spam', async () => {
    const inboxId = await newInbox()
    await hook({ inboxIds: [inboxId], eventTypes: ['message.received.spam'] })
    const honest = await send(inboxId)
    const spam = await send(inboxId, SPAM_TEXT)
    const [request] = await delivered(spam)
    expect(request?.body).toContain('"event_type":"message.received.spam"')
    expect(about(honest)).toEqual([])
  })

  it('omit text above 64 KB, which REST returns', async () => {
    const inboxId = await newInbox()
    await hook({ inboxIds: [inboxId] })
    const text = 'A line of text.\n'.repeat(4_500)
    const messageId = await send(inboxId, text)
    const [request] = await delivered(messageId)
    const event = JSON.parse(request?.body ?? '{}')
    expect(event.message).toMatchObject({ message_id: messageId, preview: expect.any(String) })
    for (const name of ['text', 'html', 'extracted_text', 'extracted_html'])
      expect(event.message).not.toHaveProperty(name)
    const read = await system.tenant.client.inboxes.messages.get(inboxId, messageId)
    expect(read.text?.trim()).toBe(text.trim())
  })

  it('require the permission of the types they name, and no right to read mail', async () => {
    const inboxId = await newInbox()
    const created = await system.tenant.client.apiKeys.create({ permissions: { webhookCreate: true } })
    const api = new Api(system.endpoints.gatewayUrl, secretOf(created))
    const request = { url: receiver.url, inbox_ids: [inboxId] }
    expect(await api.post('/v0/webhooks', { ...request, event_types: ['message.received.blocked'] })).toMatchObject({
      status: 403,
      body: { code: 'missing_permission', message: 'label_blocked_read is forbidden' },
    })
    expect(await api.post('/v0/webhooks', { ...request, event_types: ['message.received'] })).toMatchObject({
      status: 200,
    })
    await delivered(await send(inboxId))
  })

  it('stop with their deletion, and with the deletion of their inbox', async () => {
    const [deleted, kept] = [await newInbox(), await newInbox()]
    const gone = await hook({ inboxIds: [kept] })
    const staying = `${receiver.url}/staying`
    await hook({ inboxIds: [kept], url: staying })
    const ofInbox = await system.tenant.client.inboxes.webhooks.create(deleted, {
      url: receiver.url,
      eventTypes: ['message.received'],
    })
    await system.tenant.client.webhooks.delete(gone.webhookId)
    await system.tenant.client.inboxes.delete(deleted)
    await waitFor(async () => (await system.tenant.api.get(`/v0/webhooks/${ofInbox.webhookId}`)).status === 404, {
      what: 'the webhook of the deleted inbox to be gone',
    })
    const messageId = await send(kept)
    await delivered(messageId)
    // By the next one, every request about the first is there.
    await delivered(await send(kept))
    expect(about(messageId).map(({ path }) => path)).toEqual([new URL(staying).pathname])
  })
})
