import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import type { Webhook } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { inboxScope, receivedEvent, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'
import { makeTenant, type Tenant } from '../tenant.ts'

const BASE = { url: 'https://receiver.example/', event_types: ['message.received'] }

let dispatcher: TestDispatcher
let tenant: Tenant
let all: Caller

beforeAll(async () => {
  dispatcher = await startDispatcher()
  tenant = await makeTenant(dispatcher)
  all = tenant.organization()
})
afterAll(() => dispatcher.stop())
beforeEach(() => dispatcher.clear())

const update = (caller: Caller, id: string, body: unknown) =>
  dispatcher.request('webhooks.update', caller, 'PATCH', `/webhooks/${id}`, body)

const make = (caller: Caller, more: Record<string, unknown> = {}): Promise<Webhook> =>
  dispatcher.webhook(caller, { ...BASE, ...more })

async function changed(caller: Caller, id: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await update(caller, id, body)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

describe('webhooks.update: events that are handled after it', () => {
  const SINCE_LONG = sql<never, [id: string]>(
    `update webhooks set active_since = now() - interval '1 day', matching_since = now() - interval '1 day' where id = $1`,
  )
  const TOLD = sql<{ event_id: string }, [id: string]>('select event_id from deliveries where webhook_id = $1')

  it('are those of the rules that it had when they were committed, whatever was changed since', async () => {
    const { organization_id: organizationId } = all
    const scope = inboxScope({ organizationId })
    const { webhook_id: id } = await make(all, { event_types: ['message.received'] })
    await dispatcher.db.query(SINCE_LONG, id)
    for (const type of ['message.received.spam', 'message.sent']) await changed(all, id, { event_types: [type] })
    const time = new Date(Date.now() - 60_000)
    const before = { ...receivedEvent(scope), time }
    const spam = { ...receivedEvent(scope, { labels: ['spam'] }), time }
    await changed(all, id, { event_types: ['message.received.spam', 'message.sent'] })
    const last = receivedEvent(scope, { labels: ['spam'] })
    await dispatcher.events.publish(topics['mail.messages'], before, spam, last)
    const told = async () => new Set((await dispatcher.db.query(TOLD, id)).map(({ event_id }) => event_id))
    await waitFor(async () => (await told()).has(last.id), { what: 'the last event' })
    expect(await told()).toEqual(new Set([before.id, last.id]))
  })
})

describe('webhooks.update: event types and state', () => {
  it('replaces the types, each once, and leaves them alone when there are none', async () => {
    const { webhook_id: id, ...webhook } = await make(all)
    const types = ['message.sent', 'domain.verified', 'message.sent']
    const after = await changed(all, id, { event_types: types, url: 'https://other.example/', secret: 'x', headers: 1 })
    expect(after).toEqual({
      ...webhook,
      webhook_id: id,
      event_types: ['message.sent', 'domain.verified'],
      updated_at: expect.any(String),
    })
    expect(String(after['updated_at']) > webhook.updated_at).toBe(true)
    expect(await changed(all, id, {})).toEqual(after)
    expect(await changed(all, id, { event_types: [] })).toEqual(after)
  })

  it('finds it by its client_id, in its scope alone', async () => {
    const { webhook_id: id } = await make(tenant.inInbox(), { client_id: 'mine' })
    expect((await update(tenant.pod(), 'mine', { enabled: false })).body).toMatchObject({ enabled: false })
    for (const caller of [tenant.pod(randomUUID()), { ...all, organization_id: randomUUID() }]) {
      expect(await update(caller, id, { enabled: true })).toMatchObject({
        status: 404,
        body: { message: 'Webhook not found' },
      })
    }
  })

  it('needs the permission of each restricted type that is named, also of those it has when it is enabled again', async () => {
    const { webhook_id: id } = await make(all, { event_types: ['message.received.blocked', 'message.received.spam'] })
    const weak = tenant.organization(['webhook_update', 'label_spam_read'])
    const refusal = { status: 403, body: { code: 'missing_permission', message: 'label_blocked_read is forbidden' } }
    expect(await update(weak, id, { event_types: ['message.received.blocked'] })).toMatchObject(refusal)
    await changed(weak, id, { enabled: true })
    await changed(weak, id, { enabled: false })
    expect(await update(weak, id, { enabled: true })).toMatchObject(refusal)
    expect(await changed(all, id, {})).toMatchObject({ enabled: false })
    expect(await changed(weak, id, { enabled: true, event_types: ['message.received.spam'] })).toMatchObject({
      enabled: true,
      event_types: ['message.received.spam'],
    })
  })

  it('needs all label permissions to enable a webhook without types again', async () => {
    const { webhook_id: id } = await make(all)
    await dispatcher.db.query(withoutTypes, id)
    await changed(all, id, { enabled: false })
    const weak = tenant.organization(['webhook_update', 'label_spam_read', 'label_blocked_read'])
    expect(await update(weak, id, { enabled: true })).toMatchObject({
      status: 403,
      body: { message: 'label_unauthenticated_read is forbidden' },
    })
    expect(await changed(all, id, { enabled: true })).toMatchObject({ enabled: true })
  })

  it('keeps the labels that the key which subscribed last may read', async () => {
    const { webhook_id: id } = await make(all)
    const weak = tenant.organization(['webhook_update', 'label_spam_read'])
    const labels = async () => (await dispatcher.db.query(labelsOf, id))[0]?.visible_labels.toSorted()
    const before = await labels()
    await changed(weak, id, { add_inbox_ids: [] })
    expect(await labels()).toEqual(before)
    await changed(weak, id, { event_types: ['message.received.spam'] })
    expect(await labels()).toEqual(['spam'])
  })

  it('drops pending deliveries when it is disabled, and forgets failures when it is enabled', async () => {
    const { webhook_id: id } = await make(all)
    await dispatcher.db.query(withDelivery, id, randomUUID())
    await dispatcher.db.query(failing, id)
    await changed(all, id, { enabled: true })
    expect(await dispatcher.db.query(clockOf, id)).toEqual([{ failing_since: null, clock_started_at: null }])
    expect(await dispatcher.remains()).toMatchObject({ deliveries: 1 })
    const [before] = await dispatcher.db.query(activeSince, id)
    await changed(all, id, { enabled: false })
    expect(await dispatcher.remains()).toEqual({ deliveries: 0, payloads: 0, timers: 0 })
    await changed(all, id, { enabled: true })
    const [after] = await dispatcher.db.query(activeSince, id)
    expect(Number(after?.active_since)).toBeGreaterThan(Number(before?.active_since))
  })

  it('refuses a request that was admitted before the organization was taken over', async () => {
    const other = await makeTenant(dispatcher)
    const { webhook_id: id } = await make({ ...other.organization(), take_overs: 1 })
    await dispatcher.db.query(takenOver, other.id)
    expect(await update(other.organization(), id, { enabled: false })).toMatchObject({ status: 401 })
    expect(await changed({ ...other.organization(), take_overs: 1 }, id, {})).toMatchObject({ enabled: true })
  })
})

describe('webhooks.update: filters', () => {
  it('adds and removes inboxes and pods; an id in both is removed', async () => {
    const second = await tenant.addInbox()
    const { webhook_id: id } = await make(all, { inbox_ids: [tenant.inbox.address] })
    expect(
      await changed(all, id, { add_inbox_ids: [second.address, tenant.inbox.address], add_pod_ids: [tenant.id] }),
    ).toMatchObject({ inbox_ids: [tenant.inbox.address, second.address], pod_ids: [tenant.id] })
    const less = await changed(all, id, {
      add_inbox_ids: [tenant.inbox.address],
      remove_inbox_ids: [tenant.inbox.address, 'nobody@restante.test'],
      remove_pod_ids: [tenant.id, randomUUID()],
    })
    expect(less).toMatchObject({ inbox_ids: [second.address] })
    expect(less).not.toHaveProperty('pod_ids')
  })

  it('answers 404 to an unknown id that is added, and changes nothing', async () => {
    const { webhook_id: id } = await make(all, { inbox_ids: [tenant.inbox.address] })
    const body = { enabled: false, add_inbox_ids: ['nobody@restante.test'] }
    expect(await update(all, id, body)).toMatchObject({ status: 404, body: { message: 'Inbox not found' } })
    expect(await update(all, id, { add_pod_ids: [randomUUID()] })).toMatchObject({
      status: 404,
      body: { message: 'Pod not found' },
    })
    expect(await changed(all, id, {})).toMatchObject({ enabled: true, inbox_ids: [tenant.inbox.address] })
  })

  it('keeps at least one id, and at most ten of each kind', async () => {
    const { webhook_id: id } = await make(all, { inbox_ids: [tenant.inbox.address] })
    expect(await update(all, id, { remove_inbox_ids: [tenant.inbox.address] })).toMatchObject({
      status: 400,
      body: { code: 'validation_error', errors: [{ path: ['remove_inbox_ids'] }] },
    })
    const more = await Promise.all(Array.from({ length: LIMITS.event.filterIds }, () => tenant.addInbox()))
    const addresses = more.map(({ address }) => address)
    expect(await update(all, id, { add_inbox_ids: addresses })).toMatchObject({
      status: 400,
      body: { errors: [{ path: ['add_inbox_ids'] }] },
    })
    const swapped = await changed(all, id, { add_inbox_ids: addresses, remove_inbox_ids: [tenant.inbox.address] })
    expect(swapped['inbox_ids']).toEqual(addresses)
  })

  it('narrows no webhook of a whole organization or pod', async () => {
    const { webhook_id: whole } = await make(all)
    const added = await changed(all, whole, { add_inbox_ids: [tenant.inbox.address], add_pod_ids: [tenant.id] })
    expect(added).not.toHaveProperty('inbox_ids')
    expect(added).not.toHaveProperty('pod_ids')
    const { webhook_id: ofPod } = await make(tenant.pod())
    const inPod = await changed(tenant.pod(), ofPod, { add_inbox_ids: [tenant.inbox.address] })
    expect(inPod).toMatchObject({ pod_ids: [tenant.id] })
    expect(inPod).not.toHaveProperty('inbox_ids')
  })

  it('ignores what the scope of the webhook fixes, whoever asks', async () => {
    const second = await tenant.addInbox()
    const { webhook_id: ofInbox } = await make(tenant.inInbox())
    const ids = { add_inbox_ids: [second.address], add_pod_ids: [tenant.id], remove_inbox_ids: [tenant.inbox.address] }
    for (const caller of [all, tenant.inInbox()]) {
      const after = await changed(caller, ofInbox, ids)
      expect(after).toMatchObject({ inbox_ids: [tenant.inbox.address] })
      expect(after).not.toHaveProperty('pod_ids')
    }
    const { webhook_id: ofPod } = await make(tenant.pod(), { inbox_ids: [tenant.inbox.address] })
    const after = await changed(all, ofPod, { add_pod_ids: [randomUUID()], add_inbox_ids: [second.address] })
    expect(after).toMatchObject({ inbox_ids: [tenant.inbox.address, second.address] })
    expect(after).not.toHaveProperty('pod_ids')
  })

  it('keeps a webhook that lost its last id from being enabled before it has another', async () => {
    const second = await tenant.addInbox()
    const { webhook_id: id } = await make(all, { inbox_ids: [tenant.inbox.address] })
    await dispatcher.db.query(lostIds, id)
    expect(await update(all, id, { enabled: true })).toMatchObject({
      status: 400,
      body: { errors: [{ path: ['enabled'], message: expect.stringContaining('add_inbox_ids') }] },
    })
    expect(await changed(all, id, { event_types: ['message.sent'] })).toMatchObject({ enabled: false })
    expect(await changed(all, id, { enabled: true, add_inbox_ids: [second.address] })).toMatchObject({
      enabled: true,
      inbox_ids: [second.address],
    })
  })
})

describe('webhooks.updateHeaders', () => {
  const change = (caller: Caller, id: string, body: unknown) =>
    dispatcher.request('webhooks.updateHeaders', caller, 'PATCH', `/webhooks/${id}/headers`, body)
  const names = async (id: string, caller = all) =>
    (await dispatcher.request('webhooks.getHeaders', caller, 'GET', `/webhooks/${id}/headers`)).body['header_names']

  it('sets, replaces and removes headers without regard to case, and shows names alone', async () => {
    const { webhook_id: id } = await make(all, { headers: { 'X-A': 'secret-a', 'x-b': 'secret-b' } })
    expect(await names(id)).toEqual(['X-A', 'x-b'])
    const body = { headers: { 'x-a': 'new', 'X-C': 'c' }, remove_headers: ['X-B', 'X-Absent'] }
    expect(await change(all, id, body)).toMatchObject({ status: 204, body: {} })
    expect(await names(id)).toEqual(['x-a', 'X-C'])
    expect((await change(all, id, { remove_headers: ['x-a', 'x-c'] })).status).toBe(204)
    expect(await names(id)).toEqual([])
    expect((await change(all, id, { remove_headers: ['x-a'] })).status).toBe(204)
  })

  it('refuses more than a webhook may have, all of it', async () => {
    const headers = Object.fromEntries(Array.from({ length: LIMITS.webhook.headers }, (_, n) => [`x-${n}`, 'v']))
    const { webhook_id: id } = await make(all, { headers })
    expect(await change(all, id, { headers: { 'x-0': 'again', more: 'v' } })).toMatchObject({
      status: 400,
      body: { errors: [{ path: ['headers'] }] },
    })
    expect((await change(all, id, { headers: { more: 'v' }, remove_headers: ['X-1'] })).status).toBe(204)
    expect(await change(all, id, { headers: { more: 'v'.repeat(LIMITS.webhook.headerBytes - 10) } })).toMatchObject({
      status: 400,
    })
  })

  it('answers 404 outside its scope', async () => {
    const { webhook_id: id } = await make(all)
    expect(await change(tenant.pod(), id, { headers: { a: 'b' } })).toMatchObject({ status: 404 })
    const get = await dispatcher.request('webhooks.getHeaders', tenant.pod(), 'GET', `/webhooks/${id}/headers`)
    expect(get).toMatchObject({ status: 404, body: { message: 'Webhook not found' } })
  })
})

const withoutTypes = sql<unknown, [id: string]>(`update webhooks set event_types = '{}' where id = $1`)
const labelsOf = sql<{ visible_labels: string[] }, [id: string]>('select visible_labels from webhooks where id = $1')
const activeSince = sql<{ active_since: Date }, [id: string]>('select active_since from webhooks where id = $1')
const failing = sql<unknown, [id: string]>(
  'update webhooks set failing_since = now(), clock_started_at = now() where id = $1',
)
const clockOf = sql<{ failing_since: Date | null; clock_started_at: Date | null }, [id: string]>(
  'select failing_since, clock_started_at from webhooks where id = $1',
)
const lostIds = sql<unknown, [id: string]>(
  `update webhooks set enabled = false, inbox_ids = '{}', inbox_uids = '{}' where id = $1`,
)
const takenOver = sql<unknown, [id: string]>('insert into take_overs (organization_id, take_overs) values ($1, 1)')
const withDelivery = sql<unknown, [webhook: string, event: string]>(
  `with document as (insert into payloads (event_id, body) values ($2::uuid, '{}') returning event_id)
   insert into deliveries (id, webhook_id, event_id, event_type) select 'msg_1', $1, event_id, 'message.received' from document`,
)
