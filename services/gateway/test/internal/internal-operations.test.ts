import { randomUUID } from 'node:crypto'
import type { TenancyEntity } from '@restante/contracts/events'
import { type InternalOperationId, internalOperations } from '@restante/contracts/internal'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { ServiceClient } from '@restante/service/http'
import { collectTopic, freePort, peerHeaders } from '@restante/testkit'
import { PEER_KEY, startGateway, type TestGateway } from '../gateway.ts'

describe('internal operations', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  let clients: Record<'mail-ingest' | 'mail-send' | 'domains-dns' | 'websocket-fanout', ServiceClient>

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
    const clientOf = (from: ServiceName) => new ServiceClient({ from, to: 'gateway', url: gateway.url, key: PEER_KEY })
    clients = {
      'mail-ingest': clientOf('mail-ingest'),
      'mail-send': clientOf('mail-send'),
      'domains-dns': clientOf('domains-dns'),
      'websocket-fanout': clientOf('websocket-fanout'),
    }
    await organization.api.post('/v0/inboxes', { username: 'desk', client_id: 'front' })
    await organization.api.post('/v0/inboxes', { username: 'off', status: 'paused' })
    await organization.api.post('/v0/inboxes', { username: 'gone' })
    await organization.api.delete('/v0/inboxes/gone@restante.test')
  })
  afterAll(async () => {
    await Promise.all(Object.values(clients).map((client) => client.stop()))
    await gateway.stop()
  })

  async function uidOf(address: string): Promise<string> {
    return (await gateway.db.orm.inbox.findFirstOrThrow({ where: { address, deletedAt: null } })).uid
  }

  describe('gateway.resolveRecipients', () => {
    it('answers in the order asked, plus tags, case and repetition included', async () => {
      const given = [
        'Desk+tag@Restante.test',
        'off@restante.test',
        'nobody@restante.test',
        'gone@restante.test',
        'desk@restante.test',
      ]
      const { recipients } = await clients['mail-ingest'].call('gateway.resolveRecipients', { addresses: given })
      const desk = {
        status: 'deliver',
        organization_id: organization.id,
        pod_id: organization.id,
        inbox_uid: await uidOf('desk@restante.test'),
        address: 'desk@restante.test',
      }
      expect(recipients).toEqual([
        { ...desk, given: given[0] },
        expect.objectContaining({ status: 'paused', given: given[1], address: given[1] }),
        { status: 'unknown', given: given[2] },
        { status: 'unknown', given: given[3] },
        { ...desk, given: given[4] },
      ])
    })
  })

  describe('gateway.getSendingInbox', () => {
    it('tells what a live inbox may send, as its rows are now', async () => {
      const ask = (inbox_uid: string) => clients['mail-send'].call('gateway.getSendingInbox', { inbox_uid })
      const uid = await uidOf('off@restante.test')
      expect(await ask(uid)).toEqual({
        sender: {
          organization_id: organization.id,
          inbox: {
            uid,
            address: 'off@restante.test',
            pod_id: organization.id,
            paused: true,
            created_at: expect.any(String),
          },
          sending: 'ok',
          unverified: false,
          take_overs: 0,
        },
      })
      const gone = await gateway.db.orm.inbox.findFirstOrThrow({ where: { address: 'gone@restante.test' } })
      expect(await ask(gone.uid)).toEqual({})
      expect(await ask(randomUUID())).toEqual({})
    })
  })

  describe('gateway.suspendOrganization', () => {
    const ask = (organization_id: string, since: Date) =>
      clients['mail-send'].call('gateway.suspendOrganization', { organization_id, counted_since: since.toISOString() })
    const DAY = 24 * 3_600_000

    it('suspends, once, until the operator resumes, whose word ends what was counted before', async () => {
      const { id, api } = await gateway.organization()
      const inbox = (await api.post('/v0/inboxes', {})).body['inbox_id']
      const told = async () => {
        const { uid } = await gateway.db.orm.inbox.findFirstOrThrow({ where: { address: String(inbox) } })
        return (await clients['mail-send'].call('gateway.getSendingInbox', { inbox_uid: uid })).sender?.sending
      }
      const dayAgo = new Date(Date.now() - DAY)
      expect(await Promise.all([ask(id, dayAgo), ask(id, dayAgo)])).toEqual(
        expect.arrayContaining([{ outcome: 'suspended' }, { outcome: 'suspended_before' }]),
      )
      expect(await told()).toBe('suspended')
      await api.patch(`/v0/inboxes/${inbox}`, { status: 'paused' })
      await api.patch(`/v0/inboxes/${inbox}`, { status: 'active' })
      expect(await told()).toBe('suspended')
      expect(await gateway.operator.setStatus(id, 'active')).toBe(true)
      const { resumedAt } = await gateway.db.orm.organization.findUniqueOrThrow({ where: { id } })
      if (resumedAt === null) throw new Error('not resumed')
      expect(await ask(id, dayAgo)).toEqual({ outcome: 'resumed', resumed_at: resumedAt.toISOString() })
      expect(await gateway.operator.setStatus(id, 'active')).toBe(false)
      expect(await told()).toBe('ok')
      expect(await ask(id, resumedAt)).toEqual({ outcome: 'suspended' })
      const entries = await gateway.db.orm.auditEntry.findMany({
        where: { organizationId: id, actorKind: 'system', actorId: 'reputation' },
      })
      expect(entries).toHaveLength(2)
      expect(await ask(randomUUID(), dayAgo)).toEqual({ outcome: 'deleted' })
    })
  })

  describe('gateway.getDomainRights', () => {
    const ask = (body: { organization_id: string; pod_id?: string }) =>
      clients['domains-dns'].call('gateway.getDomainRights', body)

    it('tells the limit of the installation, unless the organization has one of its own', async () => {
      const [common, own] = [await gateway.organization(), await gateway.organization()]
      await gateway.operator.setLimits(own.id, { domains: 3 })
      expect(await ask({ organization_id: common.id })).toEqual({ live: true, domain_limit: 100 })
      expect(await ask({ organization_id: own.id })).toEqual({ live: true, domain_limit: 3 })
    })

    it('tells an agent that signed up by itself and is not verified that it may have none', async () => {
      const { body } = await gateway.as().post('/v0/agent/sign-up', { username: 'unverified' })
      const id = String(body['organization_id'])
      await gateway.operator.setLimits(id, { domains: 5 })
      expect(await ask({ organization_id: id })).toEqual({ live: true, domain_limit: 0 })
    })

    it('tells that a deleted pod or organization is not live', async () => {
      const { id, api } = await gateway.organization()
      const pod = String((await api.post('/v0/pods')).body['pod_id'])
      expect(await ask({ organization_id: id, pod_id: pod })).toMatchObject({ live: true })
      await api.delete(`/v0/pods/${pod}`)
      expect(await ask({ organization_id: id, pod_id: pod })).toMatchObject({ live: false })
      expect(await ask({ organization_id: id, pod_id: organization.id })).toMatchObject({ live: false })
      expect(await ask({ organization_id: randomUUID() })).toEqual({ live: false })
    })
  })

  describe('gateway.lookupInboxes', () => {
    it('finds by address, alias and uid, within the scope only', async () => {
      const uid = await uidOf('desk@restante.test')
      const ask = (scope: object) =>
        clients['mail-ingest'].call('gateway.lookupInboxes', {
          organization_id: organization.id,
          inboxes: ['DESK@restante.test', 'front', uid, 'off@restante.test', 'none'],
          pods: [organization.id, 'none'],
          ...scope,
        })
      const all = await ask({})
      expect(all.inboxes.map(({ given, address }) => [given, address])).toEqual([
        ['DESK@restante.test', 'desk@restante.test'],
        ['front', 'desk@restante.test'],
        [uid, 'desk@restante.test'],
        ['off@restante.test', 'off@restante.test'],
      ])
      expect(all.pods).toEqual([{ given: organization.id, pod_id: organization.id }])
      const narrow = await ask({ inbox_uid: uid })
      expect([narrow.inboxes.length, narrow.pods]).toEqual([3, []])
      expect(await ask({ pod_id: randomUUID() })).toEqual({ inboxes: [], pods: [] })
      expect(await ask({ organization_id: randomUUID() })).toEqual({ inboxes: [], pods: [] })
    })
  })

  it('finds nothing for a name that the database cannot store', async () => {
    const request = { organization_id: organization.id, inboxes: ['\u0000', 'front'], pods: ['\u0000'] }
    const { inboxes, pods } = await clients['mail-ingest'].call('gateway.lookupInboxes', request)
    expect([inboxes.map(({ given }) => given), pods]).toEqual([['front'], []])
  })

  it('is served on a port of its own in production, and on no other', async () => {
    const internalPort = await freePort()
    const { port } = await gateway.another({
      INTERNAL_PORT: String(internalPort),
      INTERNAL_ON_PUBLIC_PORT: 'false',
    })
    const ask = async (to: number) => {
      const client = new ServiceClient({
        from: 'mail-ingest',
        to: 'gateway',
        url: `http://127.0.0.1:${to}`,
        key: PEER_KEY,
      })
      const answer = client.call('gateway.resolveRecipients', { addresses: ['desk@restante.test'] })
      return answer.finally(() => client.stop())
    }
    expect((await ask(internalPort)).recipients[0]?.status).toBe('deliver')
    await expect(ask(port)).rejects.toMatchObject({ status: 404, code: 'not_found' })
    const elsewhere = await fetch(`http://127.0.0.1:${internalPort}/v0/auth/me`)
    expect([elsewhere.status, (await fetch(`http://127.0.0.1:${internalPort}/readyz`)).status]).toEqual([404, 200])
  })

  describe('gateway.verifyCredentials', () => {
    it('names the keys that still authenticate', async () => {
      const live = await gateway.operator.createKey({ organizationId: organization.id })
      const expiring = await gateway.operator.createKey({ organizationId: organization.id })
      const past = new Date(Date.now() - 1_000)
      await gateway.db.orm.credential.update({ where: { id: expiring.row.id }, data: { expiresAt: past } })
      const ids = [live.row.id, expiring.row.id, randomUUID()]
      const answer = await clients['websocket-fanout'].call('gateway.verifyCredentials', { credential_ids: ids })
      expect(answer).toEqual({ live: [live.row.id] })
    })
  })

  describe('gateway.snapshotTenancy', () => {
    it('pages through every live entity once, parents first, and never shows a secret', async () => {
      const seen: string[] = []
      let after: string | undefined
      do {
        const page = await clients['mail-ingest'].call('gateway.snapshotTenancy', {
          limit: 2,
          ...(after ? { after } : {}),
        })
        seen.push(...page.entities.map((entity) => `${entity.type} ${idOf(entity.payload)}`))
        after = page.next
      } while (after !== undefined)
      expect(new Set(seen).size).toBe(seen.length)
      const kinds = seen.map((entry) => entry.split(' ')[0])
      const order = ['organization.changed', 'pod.changed', 'inbox.changed', 'credential.changed']
      expect(kinds).toEqual([...kinds].sort((a, b) => order.indexOf(a ?? '') - order.indexOf(b ?? '')))
      expect(seen).toContain(`inbox.changed ${await uidOf('off@restante.test')}`)
      const rows = await gateway.db.orm.inbox.count({ where: { deletedAt: null } })
      expect(kinds.filter((kind) => kind === 'inbox.changed')).toHaveLength(rows)
    })
  })

  describe('access', () => {
    async function post(id: InternalOperationId, headers: Record<string, string>) {
      const { path } = internalOperations[id]
      return fetch(`${gateway.url}${path}`, { method: 'POST', body: '{"credential_ids":[]}', headers })
    }

    it('looks like a missing route without a token, and with that of another operation, key or service', async () => {
      const id = 'gateway.verifyCredentials'
      const refused = [
        {},
        { authorization: `Bearer ${organization.key}` },
        peerHeaders('websocket-fanout', 'gateway', PEER_KEY, 'gateway.snapshotTenancy'),
        peerHeaders('websocket-fanout', 'gateway', 'some other key, as long', id),
        peerHeaders('mail-ingest', 'gateway', PEER_KEY, id),
        peerHeaders('websocket-fanout', 'mail-ingest', PEER_KEY, id),
      ]
      for (const headers of refused) expect((await post(id, headers)).status).toBe(404)
      const admitted = await post(id, peerHeaders('websocket-fanout', 'gateway', PEER_KEY, id))
      expect(admitted.status).toBe(200)
    })
  })

  describe('the topic', () => {
    it('carries the same state as readable JSON, keyed by organization', async () => {
      const topic = await collectTopic(gateway.topics.kafka, 'tenancy')
      const record = await topic.next(
        ({ type, value }) => type === 'inbox.changed' && value.includes('"off@restante.test"'),
        { what: 'the event of the paused inbox' },
      )
      await topic.stop()
      expect(record.key).toBe(organization.id)
      expect(record.headers).toMatchObject({
        ce_organizationid: organization.id,
        ce_podid: organization.id,
        ce_inboxuid: await uidOf('off@restante.test'),
        'content-type': 'application/json',
      })
      expect(JSON.parse(record.value)).toMatchObject({ status: 'paused', version: 1 })
    })
  })
})

function idOf(payload: TenancyEntity['payload']): string {
  if ('credential_id' in payload) return payload.credential_id
  if ('inbox_uid' in payload) return payload.inbox_uid ?? ''
  return 'pod_id' in payload ? (payload.pod_id ?? '') : payload.organization_id
}
