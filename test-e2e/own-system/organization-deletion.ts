import { LIMITS } from '@restante/contracts/vocabulary'
import { leastOf, operate, PATIENCE_MS, trueUntil, underLoad, WebhookReceiver, waitFor } from '@restante/testkit'
import { type SeededInbox, seedInbox } from '../deletion/seeded-inbox.ts'
import { findTraces } from '../deletion/traces.ts'
import { leftBehind, ON_ITS_WAY } from '../deletion/what-stays.ts'
import type { System } from '../stack/system.ts'
import { type OutsidePeer, openPeer } from '../support/peers.ts'
import { openStream } from '../support/streams.ts'
import { createTenant, type Tenant } from '../support/tenants.ts'

/** Where the id of a deleted organization may be found. */
const NAMED_IN = [
  ...['gateway.outbox', 'gateway.audit_entries', 'gateway.retired_addresses'],
  ...['mail-ingest.outbox', 'mail-ingest.deleted_scopes'],
  ...['mail-send.outbox', 'mail-send.sends', 'mail-send.deleted_scopes'],
  ...['domains-dns.deleted_scopes', 'apps-signin.outbox', 'apps-signin.deleted_scopes'],
  ...['calendar.outbox', 'calendar.deleted_scopes', 'metrics.deleted_scopes'],
  ...['webhooks-dispatcher.deleted_scopes', 'websocket-fanout.stream_log'],
]

/** The promises about a deleted organization. */
export function describeOrganizationDeletion(systemOf: () => System): void {
  let system: System
  let tenant: Tenant
  let other: Tenant
  let peer: OutsidePeer
  let receiver: WebhookReceiver
  let inbox: SeededInbox
  let id: string
  let stream: Awaited<ReturnType<typeof openStream>>

  beforeAll(async () => {
    system = systemOf()
    ;[tenant, other, peer, receiver] = await Promise.all([
      createTenant(system.endpoints),
      createTenant(system.endpoints),
      openPeer(system.endpoints),
      new WebhookReceiver().start(),
    ])
    id = (await tenant.client.organizations.get()).organizationId
    const neighbour = (await tenant.client.inboxes.create({})).inboxId
    inbox = await seedInbox({ tenant, peer, neighbour, receiver, endpoints: system.endpoints })
    stream = await openStream(system.endpoints, tenant.key)
  })
  afterAll(async () => {
    await stream?.close()
    await Promise.all([peer?.stop(), receiver?.stop()])
  })

  it('is inaccessible for its keys, streams and senders once the command has answered, within the cache time of gateways', async () => {
    expect(await operate(system.endpoints.operator, 'organizations', 'delete', id, '--yes')).toContain(
      'is being deleted',
    )
    const [admittedMs, { code }] = await Promise.all([
      trueUntil(async () => (await tenant.api.get('/v0/auth/me')).status !== 401, { what: 'the key to die' }),
      stream.ended(),
      expect(peer.send({ to: inbox.inboxId, subject: 'Late', text: 'Late' })).rejects.toMatchObject({
        responseCode: 550,
      }),
    ])
    expect(admittedMs).toBeLessThan(LIMITS.apiKey.cache)
    expect(code).toBe(1008)
  })

  it('loses its streams within a moment of the answer', async () => {
    const limit = underLoad(2_000)
    const closing = await leastOf(limit, async () => {
      const other = await createTenant(system.endpoints)
      const open = await openStream(system.endpoints, other.key)
      await operate(system.endpoints.operator, 'organizations', 'delete', other.id, '--yes')
      const answered = performance.now()
      await open.ended()
      return performance.now() - answered
    })
    expect(closing).toBeLessThan(limit)
  })

  it('is complete when every service has purged it, and leaves nothing except what is listed', async () => {
    const latest = () => operate(system.endpoints.operator, 'audit', '--organization', id, '--limit', '1')
    const isGone = async () => (await latest()).includes('organization.deleted')
    await waitFor(isGone, { what: 'the end of the organization', timeout: 2 * PATIENCE_MS })
    const search = () => findTraces(system.endpoints, system.blobs, { ...inbox.markers, organization: id })
    const left = async () =>
      leftBehind(await search(), ON_ITS_WAY).filter(
        ({ place, marker }) => marker !== 'organization' || !NAMED_IN.includes(place),
      )
    // Services learn of the deletion from the topic.
    await waitFor(async () => JSON.stringify(await left()) === '[]', {
      what: 'the last traces to go',
      interval: 500,
    }).catch(() => undefined)
    expect(await left()).toEqual([])
  })

  it('reserves its addresses against others, and affects no other organization', async () => {
    expect(await other.api.post('/v0/inboxes', { username: inbox.username })).toMatchObject({
      status: 403,
      body: { code: 'resource_taken' },
    })
    expect((await other.api.get('/v0/auth/me')).status).toBe(200)
  })

  it('still has its accepted mail delivered', async () => {
    const { messageId, recipient } = inbox.waiting
    peer.server.answerRecipient(recipient)
    expect((await peer.server.next(recipient)).parsed.messageId).toBe(messageId)
  })
}
