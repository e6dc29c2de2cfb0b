import path from 'node:path'
import { operate, PATIENCE_MS, WebhookReceiver, waitFor } from '@restante/testkit'
import pg from 'pg'
import { currentRun } from '../stack/run.ts'
import { mailTo } from '../support/mail.ts'
import { openStream } from '../support/streams.ts'
import { useSystem } from '../support/suite.ts'
import { createTenant, newUsername } from '../support/tenants.ts'
import { seedInbox } from './seeded-inbox.ts'
import { findTraces, type Markers, type Trace } from './traces.ts'
import { leftBehind, notIn, OF_A_POD, OF_AN_ORGANIZATION } from './what-stays.ts'

const blobs = path.join(currentRun().folder, 'blobs')

describe('deletions above the level of inboxes', () => {
  const system = useSystem()
  let receiver: WebhookReceiver
  beforeAll(async () => {
    receiver = system.cleanUp(await new WebhookReceiver().start())
    receiver.always(503)
  })
  const search = (markers: Markers) => findTraces(system.endpoints, blobs, markers)

  async function uidOf(address: string): Promise<string> {
    const client = new pg.Client({ connectionString: system.endpoints.databases.gateway })
    await client.connect()
    try {
      const { rows } = await client.query<{ uid: string }>('select uid from inboxes where address = $1', [address])
      return rows[0]?.uid ?? ''
    } finally {
      await client.end()
    }
  }

  /** Waits for the purges. If they do not come, the search reports what is left. */
  async function nothingLeft(find: () => Promise<Trace[]>): Promise<void> {
    const look = async () => {
      const [first] = await find()
      if (first) throw new Error(`${first.marker} in ${first.place}: ${first.what.slice(0, 500)}`)
      return true
    }
    await waitFor(look, { what: 'the last of it to be purged', timeout: 2 * PATIENCE_MS, interval: 500 })
  }

  it('a pod leaves nothing in any service except what is listed', async () => {
    const { api, client } = system.tenant
    const name = newUsername('pod').toLowerCase()
    const { podId } = await client.pods.create({ name, clientId: name })
    const { inboxId } = await client.pods.inboxes.create(podId, {})
    const hook = { url: receiver.url, eventTypes: ['message.received' as const] }
    const own = await api.post(`/v0/pods/${podId}/webhooks`, {
      url: `${receiver.url}/${name}`,
      event_types: ['message.received'],
    })
    const narrow = await client.webhooks.create({ ...hook, podIds: [podId] })
    const both = await client.webhooks.create({ ...hook, podIds: [podId, system.tenant.id] })
    const key = await api.post(`/v0/pods/${podId}/api-keys`, {})
    const stream = await openStream(system.endpoints, String(key.body['api_key']))
    await mailTo(system, inboxId)
    const markers = { pod: podId, name }
    const before = (await search(markers)).map(({ place }) => place)
    expect(before).toEqual(
      expect.arrayContaining([
        'gateway.pods',
        'gateway.credentials',
        'webhooks-dispatcher.webhooks',
        'mail-ingest.messages',
      ]),
    )

    await client.pods.inboxes.delete(podId, inboxId)
    expect((await api.delete(`/v0/pods/${podId}`)).status).toBe(204)
    expect((await stream.ended()).code).toBe(1008)
    await nothingLeft(async () => leftBehind(await search(markers), ...OF_A_POD))
    expect((await api.get(`/v0/webhooks/${own.body['webhook_id']}`)).status).toBe(404)
    expect((await api.get(`/v0/webhooks/${narrow.webhookId}`)).body).toMatchObject({ enabled: false })
    expect((await api.get(`/v0/webhooks/${both.webhookId}`)).body).toMatchObject({
      enabled: true,
      pod_ids: [system.tenant.id],
    })
  })

  it('an organization leaves nothing once its last message has been delivered or given up', async () => {
    const tenant = await createTenant(system.endpoints)
    const neighbour = (await tenant.client.inboxes.create({})).inboxId
    const inbox = await seedInbox({ tenant, peer: system.peer, neighbour, receiver, endpoints: system.endpoints })
    const markers = { ...inbox.markers, organization: tenant.id, uid: await uidOf(inbox.inboxId) }
    const before = new Set((await search(markers)).map(({ place }) => place))
    for (const place of [
      'gateway.organizations',
      'mail-ingest.receiving_organizations',
      'mail-send.sends',
      'webhooks-dispatcher.webhooks',
      'apps-signin.accounts',
      'calendar.events',
    ])
      expect(before).toContain(place)
    await operate(system.endpoints.operator, 'organizations', 'delete', tenant.id, '--yes', '--wait')
    expect((await tenant.api.get('/v0/auth/me')).status).toBe(401)
    await nothingLeft(async () => notIn(OF_AN_ORGANIZATION, await search(markers)))
  })
})
