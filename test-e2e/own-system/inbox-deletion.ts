import { topics } from '@restante/contracts/events'
import { LIMITS } from '@restante/contracts/vocabulary'
import { PATIENCE_MS, trueUntil, underLoad, WebhookReceiver, waitFor } from '@restante/testkit'
import pg from 'pg'
import { type SeededInbox, seedInbox } from '../deletion/seeded-inbox.ts'
import { replayEverything, retentionOfTopics } from '../deletion/topics.ts'
import { findTraces, type Markers } from '../deletion/traces.ts'
import { leftBehind, ON_ITS_WAY } from '../deletion/what-stays.ts'
import type { System } from '../stack/system.ts'
import { Api } from '../support/api.ts'
import { mailTo } from '../support/mail.ts'
import { type OutsidePeer, openPeer } from '../support/peers.ts'
import { openStream } from '../support/streams.ts'
import { createTenant, type Tenant } from '../support/tenants.ts'
import { letTimePass } from '../support/time.ts'

/** The promises about a deleted inbox. */
export function describeInboxDeletion(systemOf: () => System): void {
  let system: System
  let tenant: Tenant
  let peer: OutsidePeer
  let receiver: WebhookReceiver
  let neighbour: string
  let inbox: SeededInbox
  let markers: Markers
  let wide: Awaited<ReturnType<typeof openStream>>
  let own: Awaited<ReturnType<typeof openStream>>

  beforeAll(async () => {
    system = systemOf()
    ;[tenant, peer, receiver] = await Promise.all([
      createTenant(system.endpoints),
      openPeer(system.endpoints),
      new WebhookReceiver().start(),
    ])
    // Deliveries to webhooks stay queued until the receiver accepts them.
    receiver.always(503)
    neighbour = (await tenant.client.inboxes.create({})).inboxId
    inbox = await seedInbox({ tenant, peer, neighbour, receiver, endpoints: system.endpoints })
    markers = { ...inbox.markers, uid: await uidOf(inbox.inboxId) }
    ;[wide, own] = await Promise.all([
      openStream(system.endpoints, tenant.key),
      openStream(system.endpoints, inbox.ownKey),
    ])
  })
  afterAll(async () => {
    await wide?.close()
    await Promise.all([peer?.stop(), receiver?.stop()])
  })

  async function ask<Row extends pg.QueryResultRow>(
    service: 'gateway' | 'webhooks-dispatcher',
    text: string,
    ...values: string[]
  ) {
    const client = new pg.Client({ connectionString: system.endpoints.databases[service] })
    await client.connect()
    try {
      return (await client.query<Row>(text, values)).rows
    } finally {
      await client.end()
    }
  }
  async function uidOf(address: string): Promise<string> {
    const [row] = await ask<{ uid: string }>(
      'gateway',
      'select uid from inboxes where address = $1 and deleted_at is null',
      address,
    )
    if (!row) throw new Error(`${address} is not there`)
    return row.uid
  }
  const search = () => findTraces(system.endpoints, system.blobs, markers)
  const pathTo = (rest = '') => `/v0/inboxes/${encodeURIComponent(inbox.inboxId)}${rest}`
  const webhook = (id: string) => tenant.api.get(`/v0/webhooks/${id}`)
  const purged = () =>
    waitFor(
      async () => (await ask('gateway', 'select 1 from inboxes where uid = $1', markers['uid'] ?? '')).length === 0,
      {
        what: 'the purge',
        timeout: 2 * PATIENCE_MS,
      },
    )
  /** Everything that the key of the owner can read, as text. */
  async function readable(): Promise<string> {
    const lists = ['/inboxes', '/threads?include_spam=true&include_trash=true', '/webhooks', '/api-keys', '/pods']
    const answers = await Promise.all(lists.map((list) => tenant.api.get(`/v0${list}`)))
    expect(answers.map(({ status }) => status)).toEqual(lists.map(() => 200))
    return JSON.stringify(answers.map(({ body }) => body)).toLowerCase()
  }

  it('has data in every store before it is deleted', async () => {
    const places = new Set((await search()).map(({ place }) => place))
    for (const place of [
      ...[
        'gateway.inboxes',
        'gateway.credentials',
        'mail-ingest.messages',
        'mail-ingest.message_bodies',
        'mail-ingest.threads',
      ],
      ...[
        'mail-ingest.label_log',
        'mail-ingest.tombstones',
        'mail-send.sends',
        'mail-send.deliveries',
        'mail-send.idempotency_keys',
      ],
      ...['webhooks-dispatcher.webhooks', 'webhooks-dispatcher.payloads', 'websocket-fanout.stream_log', 'blobs'],
      ...['calendars', 'events', 'edits', 'begun_dates', 'cancelled_dates', 'create_keys', 'feeds', 'outbox'].map(
        (table) => `calendar.${table}`,
      ),
      ...['accounts', 'tickets', 'transactions', 'connect_replays', 'outbox'].map((table) => `apps-signin.${table}`),
    ])
      expect(places).toContain(place)
    const found = new Set((await search()).map(({ marker }) => marker))
    expect(Object.keys(markers).filter((marker) => !found.has(marker))).toEqual([])
  })

  it('is 404 once its deletion was answered with 204, and missing in lists within two seconds', async () => {
    expect((await tenant.api.delete(pathTo())).status).toBe(204)
    const isGone = async () => {
      for (const rest of ['', '/threads', '/messages', '/webhooks', '/api-keys']) {
        expect(await tenant.api.get(pathTo(rest))).toMatchObject({ status: 404, body: { message: 'Inbox not found' } })
      }
      expect((await tenant.api.delete(pathTo())).status).toBe(404)
      const mine = new Api(system.endpoints.gatewayUrl, inbox.ownKey)
      expect((await mine.get('/v0/auth/me')).status).toBe(401)
      await expect(peer.send({ to: inbox.inboxId, subject: 'Late', text: 'Late' })).rejects.toMatchObject({
        responseCode: 550,
      })
    }
    const isListed = async () => (await readable()).includes(inbox.username)
    const [listedMs] = await Promise.all([trueUntil(isListed, { what: 'the lists to follow' }), isGone()])
    expect(listedMs).toBeLessThan(underLoad(2_000))
    expect((await own.ended()).code).toBe(1008)
  })

  it('leaves nothing when it is purged, except what is listed', async () => {
    await purged()
    expect(leftBehind(await search(), ON_ITS_WAY)).toEqual([])
    expect(await readable()).not.toContain(inbox.markers['subject'])
    expect((await webhook(inbox.webhooks.own)).status).toBe(404)
    expect((await webhook(inbox.webhooks.narrow)).body).toMatchObject({ enabled: false })
    expect((await webhook(inbox.webhooks.both)).body).toMatchObject({ enabled: true, inbox_ids: [neighbour] })
    expect((await webhook(inbox.webhooks.wide)).body).toMatchObject({ enabled: true })
  })

  it('still has its accepted messages delivered, and publishes events to pod and organization', async () => {
    const { messageId, recipient } = inbox.waiting
    peer.server.answerRecipient(recipient)
    expect((await peer.server.next(recipient)).parsed.messageId).toBe(messageId)
    await wide.next(
      (event) => event['event_type'] === 'message.delivered' && JSON.stringify(event).includes(messageId),
      {
        what: 'the event of the delivery',
      },
    )
    await waitFor(async () => leftBehind(await search()).length === 0, {
      what: 'the bytes to go',
      interval: 500,
    })
  })

  it('has its queued events delivered to wider webhooks, and their documents deleted then', async () => {
    receiver.always(200)
    await letTimePass(system.endpoints, 'webhooks-dispatcher')
    await waitFor(() => receiver.requests.some(({ body }) => body.includes(inbox.markers['subject'] ?? '-')), {
      what: 'a queued event',
    })
    await waitFor(
      async () => {
        await letTimePass(system.endpoints, 'webhooks-dispatcher')
        return (await search()).every(({ place }) => place !== 'webhooks-dispatcher.payloads')
      },
      { what: 'the documents to go', interval: 200 },
    )
    await waitFor(async () => (await ask('webhooks-dispatcher', 'select 1 from timers')).length === 0, {
      what: 'the timers to end',
    })
  })

  describe('and the new inbox of the same address', () => {
    let stream: Awaited<ReturnType<typeof openStream>>
    const newReceiver: WebhookReceiver = new WebhookReceiver()
    beforeAll(async () => {
      expect(await tenant.api.post('/v0/inboxes', { username: inbox.username })).toMatchObject({ status: 200 })
      await newReceiver.start()
      await tenant.client.inboxes.webhooks.create(inbox.inboxId, {
        url: newReceiver.url,
        eventTypes: ['message.received', 'message.delivered', 'message.sent', 'message.bounced'],
      })
      stream = await openStream(system.endpoints, tenant.key, { inbox_ids: [inbox.inboxId] })
    })
    afterAll(async () => {
      await stream?.close()
      await newReceiver.stop()
    })

    /** The content of the inbox and the events about it. */
    async function seen() {
      const lists = [
        '/threads?include_spam=true&include_trash=true',
        '/messages?include_spam=true&include_trash=true',
        '/api-keys',
        '/webhooks',
      ]
      const answers = await Promise.all(lists.map((list) => tenant.api.get(pathTo(list))))
      const record = (await tenant.api.get(pathTo())).body
      return {
        counts: answers.map(({ body }) => body['count']),
        names: Object.keys(record).sort(),
        events: stream.events.length,
        requests: newReceiver.requests.length,
      }
    }
    const NOTHING = {
      counts: [0, 0, 0, 1],
      names: ['created_at', 'email', 'inbox_id', 'pod_id', 'updated_at'],
      events: 0,
      requests: 0,
    }

    it('starts without mail of the old one', async () => {
      expect(await seen()).toEqual(NOTHING)
    })

    it('sees nothing of the old one when every record of every topic is delivered again', async () => {
      expect(await replayEverything(system.endpoints)).toBeGreaterThan(20)
      // Timers of the deliveries to wider webhooks that the replay caused.
      await letTimePass(system.endpoints, 'webhooks-dispatcher')
      expect(await seen()).toEqual(NOTHING)
      expect(leftBehind(await search()).filter(({ marker }) => marker !== 'address')).toEqual([])
      expect((await tenant.api.get(pathTo(`/threads/${inbox.thread}`))).status).toBe(404)
    })

    it('gets events of its own mail only', async () => {
      const { messageId } = await mailTo({ tenant, peer }, inbox.inboxId)
      await stream.next((event) => JSON.stringify(event).includes(messageId), { what: 'the event of its own mail' })
      await newReceiver.next(({ body }) => body.includes(messageId), { what: 'the same at the webhook' })
      expect(await seen()).toMatchObject({ counts: [1, 1, 0, 1], events: 1, requests: 1 })
    })
  })

  it('is deleted from topics and dead letters by their retention, as set on the brokers', async () => {
    const retentions = await retentionOfTopics(system.endpoints)
    const names = [...retentions.keys()]
    expect(names).toEqual(expect.arrayContaining(Object.keys(topics)))
    expect(names.filter((name) => name.endsWith('.dlq'))).not.toEqual([])
    for (const [name, ms] of retentions) {
      expect(ms).toBeGreaterThan(0)
      expect(ms).toBeLessThanOrEqual(name.endsWith('.dlq') ? LIMITS.retention.deadLetter : LIMITS.retention.topic)
    }
  })
}
