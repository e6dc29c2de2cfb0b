import type { ServiceName } from '@restante/contracts/vocabulary'
import { PATIENCE_MS, verifyWebhook, WebhookReceiver, waitFor } from '@restante/testkit'
import type { System } from '../stack/system.ts'
import { type OutsidePeer, openPeer } from '../support/peers.ts'
import { openStream } from '../support/streams.ts'
import { createTenant, newUsername, type Tenant } from '../support/tenants.ts'
import { type Leasing, letLeasesEnd } from '../support/time.ts'
import { callTool } from '../support/tools.ts'

/** The promises of services that are killed during their work. */
export function describeRestart(systemOf: () => System): void {
  let system: System
  let tenant: Tenant
  let peer: OutsidePeer
  beforeAll(async () => {
    system = systemOf()
    ;[tenant, peer] = await Promise.all([createTenant(system.endpoints), openPeer(system.endpoints)])
  })
  afterAll(() => peer?.stop())

  const newInbox = async () => (await tenant.client.inboxes.create({})).inboxId
  const newId = () => `<${newUsername('id')}@${peer.domain}>`
  const send = (inboxId: string, messageId: string) =>
    peer.send({ to: inboxId, subject: messageId, text: `Text of ${messageId}`, messageId })

  const leasing: ReadonlySet<ServiceName> = new Set<Leasing>(['mail-ingest', 'mail-send', 'webhooks-dispatcher'])
  const leases = (service: ServiceName): service is Leasing => leasing.has(service)

  /** Kills a service and expires its leases, which no other process would take over earlier. */
  async function kill(service: ServiceName): Promise<void> {
    await system.process(service).stop('SIGKILL')
    if (leases(service)) await letLeasesEnd(system.endpoints, service)
  }
  async function restart(service: ServiceName): Promise<void> {
    system.process(service).start()
    await system.process(service).ready()
  }

  /** Starts all concurrently, and kills the service as soon as some have succeeded. @returns the indices of these. */
  async function killAmid(service: ServiceName, works: (() => Promise<unknown>)[]): Promise<number[]> {
    const done: number[] = []
    const running = works.map((work, index) => work().then(() => done.push(index)))
    await waitFor(() => done.length >= works.length / 4, { what: `a quarter of the work of ${service}`, interval: 1 })
    await kill(service)
    await Promise.allSettled(running)
    return done
  }
  /** Distinct events about each message among the deliveries. Deliveries may be repeated, events may not. */
  function eventIdsOf(documents: readonly object[], messageId: string): Set<unknown> {
    const about = documents.filter((document) => JSON.stringify(document).includes(JSON.stringify(messageId)))
    return new Set(about.map((document) => ('event_id' in document ? document.event_id : undefined)))
  }

  it('loses no accepted mail (mail-send)', async () => {
    const inboxId = await newInbox()
    const sent: { messageId: string; to: string }[] = []
    const works = Array.from({ length: 16 }, () => async () => {
      const to = peer.address(newUsername())
      const { messageId } = await tenant.client.inboxes.messages.send(inboxId, { to, subject: 'Out', text: 'Hello' })
      sent.push({ messageId, to })
    })
    await killAmid('mail-send', works)
    await restart('mail-send')
    for (const { messageId, to } of sent) {
      const mail = await peer.server.next(to)
      expect(mail.parsed.messageId).toBe(messageId)
      await waitFor(
        async () => (await tenant.client.inboxes.messages.get(inboxId, messageId)).labels.includes('delivered'),
        { what: `the delivery of ${messageId}` },
      )
    }
  })

  it('loses no accepted mail, stores one copy of each, and publishes each once (mail-ingest)', async () => {
    const inboxId = await newInbox()
    const receiver = await new WebhookReceiver().start()
    const { secret } = await tenant.client.webhooks.create({
      url: receiver.url,
      eventTypes: ['message.received'],
      inboxIds: [inboxId],
    })
    const stream = await openStream(system.endpoints, tenant.key, { inbox_ids: [inboxId] })
    const ids = Array.from({ length: 16 }, newId)
    const accepted = await killAmid(
      'mail-ingest',
      ids.map((id) => () => send(inboxId, id)),
    )
    await restart('mail-ingest')
    const messages = async () => (await tenant.client.inboxes.messages.list(inboxId, { limit: 100 })).messages
    await waitFor(
      async () => {
        const present = new Set((await messages()).map(({ messageId }) => messageId))
        return accepted.every((index) => present.has(ids[index] ?? ''))
      },
      { what: 'every mail that got its 250' },
    )
    // A mail without a 250 is sent again, as mail servers do; if it was accepted after all, it must not be stored
    // twice.
    for (const [index, id] of ids.entries()) if (!accepted.includes(index)) await send(inboxId, id)
    await waitFor(async () => (await messages()).length >= ids.length, { what: 'all mails' })
    expect((await messages()).map(({ messageId }) => messageId).sort()).toEqual(ids.toSorted())
    const requests = () => receiver.requests.map((request) => Object(verifyWebhook(secret, request)))
    for (const id of ids) {
      await waitFor(() => eventIdsOf(requests(), id).size > 0, { what: `${id} at the webhook` })
      await waitFor(() => eventIdsOf(stream.events, id).size > 0, { what: `${id} on the stream` })
      expect(eventIdsOf(requests(), id)).toEqual(eventIdsOf(stream.events, id))
      expect(eventIdsOf(stream.events, id).size).toBe(1)
    }
    await stream.close()
    await receiver.stop()
  })

  it('repeats possibly lost requests under the same ids (webhooks-dispatcher)', async () => {
    const inboxId = await newInbox()
    const receiver = await new WebhookReceiver().start()
    await tenant.client.webhooks.create({ url: receiver.url, eventTypes: ['message.received'], inboxIds: [inboxId] })
    // The receiver has the request, and the dispatcher dies before it reads the response.
    receiver.script('silence')
    await send(inboxId, newId())
    await receiver.next(() => true, { what: 'the first request' })
    await kill('webhooks-dispatcher')
    await restart('webhooks-dispatcher')
    const [first, second] = await waitFor(() => receiver.requests.length > 1 && receiver.requests, {
      what: 'the second request',
    })
    expect(second?.headers['svix-id']).toBe(first?.headers['svix-id'])
    expect(second?.body).toBe(first?.body)
    await receiver.stop()
  })

  it('keeps every key and inbox, and mail waits at its senders (gateway)', async () => {
    const inboxId = await newInbox()
    await kill('gateway')
    // Whether the recipient exists is unknown, which must not lead to a permanent refusal.
    const id = newId()
    await expect(send(inboxId, id)).rejects.toMatchObject({ responseCode: 451 })
    await restart('gateway')
    await send(inboxId, id)
    const message = await waitFor(() => tenant.client.inboxes.messages.get(inboxId, id), { what: 'the mail' })
    expect(message.labels).toEqual(['received', 'unread'])
  })

  it('answers calls that wait at once when it shuts down, and misses no mail of the meantime (mcp)', async () => {
    const inboxId = await newInbox()
    const wait = (after: unknown, waitSeconds: number) =>
      callTool(system.endpoints, tenant.key, 'wait_for_message', { inboxId, after, waitSeconds })
    const { cursor } = (await wait(undefined, 0)).structured
    const waiting = wait(cursor, 60)
    // A call that began later is answered, so the one before it has most likely arrived; if not, a service that shuts down
    // accepts requests for two seconds more.
    await wait(undefined, 0)
    await system.process('mcp').stop('SIGTERM')
    expect(system.process('mcp').deaths).toEqual([])
    expect(await waiting).toEqual({ structured: { messages: [], cursor }, isError: false })
    const id = newId()
    await send(inboxId, id)
    await restart('mcp')
    const { structured } = await wait(cursor, 30)
    expect(structured['messages']).toMatchObject([{ messageId: id }])
  })

  it('resumes its streams when their clients reconnect (websocket-fanout)', async () => {
    const inboxId = await newInbox()
    const before = await openStream(system.endpoints, tenant.key, { inbox_ids: [inboxId] })
    await kill('websocket-fanout')
    await before.ended({ what: 'the stream to break' })
    expect(before.closed?.code).not.toBe(1000)
    const missed = newId()
    await send(inboxId, missed)
    await restart('websocket-fanout')
    const after = await openStream(system.endpoints, tenant.key, { inbox_ids: [inboxId] })
    const fresh = newId()
    await send(inboxId, fresh)
    await after.next((event) => JSON.stringify(event).includes(fresh), {
      what: 'the event after the restart',
      // The partitions of a dead consumer are reassigned when its session has expired.
      timeout: 2 * PATIENCE_MS,
    })
    expect(await tenant.client.inboxes.messages.get(inboxId, missed)).toMatchObject({ messageId: missed })
    await after.close()
  })
}
