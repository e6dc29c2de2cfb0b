import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import type { AuditEntry } from '../../src/generated/prisma/client.ts'
import { startGateway, type TestGateway } from '../gateway.ts'

const breakEvents = sql<never>(`
create or replace function fail() returns trigger language plpgsql as $$ begin raise exception 'broken for a test'; end $$`)
const installBreak = sql<never>('create trigger broken before insert on audit_entries execute function fail()')
const removeBreak = sql<never>('drop trigger broken on audit_entries')
const everything = sql<{ text: string }>('select audit_entries::text as text from audit_entries')
const secretHashes = sql<{ hash: string }>(`select encode(secret_hash, 'hex') as hash from credentials`)
const sweepNow = sql<never>("update timers set due_at = now() where kind = 'sweep'")
const sweepWaits = sql<{ waits: boolean }>("select due_at > now() as waits from timers where kind = 'sweep'")

describe('the audit log', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({ SIGN_UP_REFUSED_DOMAINS: 'example.com', AUDIT_PERIOD: '10d' })
  })
  afterAll(() => gateway.stop())

  async function entriesOf(organizationId: string) {
    const pages = await pagesOf({ organizationId, since: undefined }, 1000)
    return pages.flat().reverse()
  }

  async function pagesOf(filter: Parameters<TestGateway['operator']['audit']>[0], limit: number) {
    const pages: AuditEntry[][] = []
    for await (const page of gateway.operator.audit(filter, limit)) pages.push(page)
    return pages
  }

  it('records who created, changed and revoked a key, in which request, and what changed', async () => {
    const { id, api } = await gateway.organization()
    const me = (await api.get('/v0/auth/me')).body['api_key_id']
    const made = await api.post('/v0/api-keys', { name: 'Reader', permissions: { inbox_read: true } })
    const key = made.body['api_key_id']
    const narrowed = await api.patch(`/v0/api-keys/${key}`, { permissions: { inbox_read: false, message_read: true } })
    await api.patch(`/v0/api-keys/${key}`, { name: 'Reader' })
    await api.delete(`/v0/api-keys/${key}`)
    const entries = await entriesOf(id)
    expect(entries.map(({ actorKind, action }) => [actorKind, action])).toEqual([
      ['operator', 'organization.created'],
      ['operator', 'credential.created'],
      ['credential', 'credential.created'],
      ['credential', 'credential.changed'],
      ['credential', 'credential.revoked'],
    ])
    const binding = { credentialId: key, credentialType: 'bearer', tier: 'organization', podId: null, inboxUid: null }
    const named = { name: 'Reader', prefix: made.body['prefix'] }
    expect(entries[0]).toMatchObject({ actorId: 'tester', requestId: null })
    expect(entries[2]).toMatchObject({ ...binding, ...named, actorId: me, requestId: made.headers.get('x-request-id') })
    expect(entries[2]?.details).toEqual({
      after: {
        name: 'Reader',
        permissions: ['inbox_read'],
        app_connect: false,
        provisional: false,
        expires_at: null,
      },
    })
    expect(entries[3]).toMatchObject({ ...named, requestId: narrowed.headers.get('x-request-id') })
    expect(entries[3]?.details).toEqual({
      before: { permissions: ['inbox_read'] },
      after: { permissions: ['message_read'] },
    })
    expect(entries[4]).toMatchObject({ ...binding, ...named, actorId: me, details: {} })
  })

  it('records why a key ended with its scope', async () => {
    const { id, api } = await gateway.organization()
    await api.post('/v0/inboxes', { username: 'audited' })
    await api.post('/v0/inboxes/audited@restante.test/api-keys', { name: 'Bound' })
    await api.delete('/v0/inboxes/audited@restante.test')
    expect((await entriesOf(id)).at(-1)).toMatchObject({
      action: 'credential.revoked',
      tier: 'inbox',
      name: 'Bound',
      inboxUid: expect.any(String),
      details: { because: 'inbox deleted' },
    })
  })

  it("records sign-ups, rotations, humans and verification, but never the human's address", async () => {
    const human = 'audited@people.test'
    const signUp = () => gateway.as().post('/v0/agent/sign-up', { username: 'audit-agent', human_email: human })
    await signUp()
    const { body, headers } = await signUp()
    await waitFor(() => gateway.behind.systemMails.some(({ to }) => to === human), { what: 'the code mail' })
    const code = /\b\d{6}\b/.exec(gateway.behind.systemMails.at(-1)?.text ?? '')?.[0]
    await gateway.as(String(body['api_key'])).post('/v0/agent/verify', { otp_code: code })
    const entries = await entriesOf(String(body['organization_id']))
    expect(entries.map(({ actorKind, action }) => [actorKind, action])).toEqual([
      ['sign_up', 'organization.created'],
      ['sign_up', 'credential.created'],
      ['sign_up', 'credential.created'],
      ['sign_up', 'credential.rotated'],
      ['sign_up', 'organization.taken_over'],
      ['credential', 'organization.changed'],
    ])
    expect(entries[2]?.requestId).toBe(headers.get('x-request-id'))
    expect(entries[5]?.details).toEqual({
      before: { authentication_type: 'agent_unverified', inbox_limit: 1, domain_limit: 0 },
      after: { authentication_type: 'agent_verified', inbox_limit: null, domain_limit: null },
    })
  })

  it("records the operator's changes", async () => {
    const { id } = await gateway.organization()
    await gateway.operator.setStatus(id, 'suspended')
    expect((await entriesOf(id)).at(-1)).toMatchObject({
      actorKind: 'operator',
      action: 'organization.changed',
      details: { before: { status: 'active' }, after: { status: 'suspended' } },
    })
  })

  it('records that an organization got a human, another one, or none', async () => {
    const { id } = await gateway.organization()
    for (const human of ['first@audited.test', 'second@audited.test', null]) await gateway.operator.setHuman(id, human)
    const changes = (await entriesOf(id)).filter(({ action }) => action === 'organization.changed')
    expect(changes.map(({ details }) => details)).toEqual([
      { before: { human: false }, after: { human: true } },
      { before: {}, after: {}, because: 'human replaced' },
      { before: { human: true }, after: { human: false } },
    ])
    expect(JSON.stringify(changes.map(({ position: _, ...change }) => change))).not.toContain('audited.test')
  })

  it('contains no secret, hash or address of a human', async () => {
    const { key } = await gateway.organization()
    const log = (await gateway.db.query(everything)).map(({ text }) => text).join('\n')
    expect(log).toContain(key.slice(0, 14))
    expect(log).not.toContain(key)
    expect(log).not.toContain('@people.test')
    for (const { hash } of await gateway.db.query(secretHashes)) expect(log).not.toContain(hash)
  })

  it('is written with the change: if it cannot be, nothing changes', async () => {
    const { id, api } = await gateway.organization()
    const before = await entriesOf(id)
    await api.post('/v0/api-keys', { permissions: { inbox_read: 'yes' } })
    expect(await entriesOf(id)).toEqual(before)
    await gateway.db.query(breakEvents)
    await gateway.db.query(installBreak)
    try {
      expect((await api.post('/v0/api-keys')).status).toBe(500)
    } finally {
      await gateway.db.query(removeBreak)
    }
    expect((await api.get('/v0/api-keys')).body['count']).toBe(1)
  })

  it('is deleted after its retention, and records the removal of expired keys', async () => {
    const { id } = await gateway.organization()
    const { row } = await gateway.operator.createKey({ organizationId: id })
    const days = (count: number) => new Date(Date.now() - count * 86_400_000)
    await gateway.db.orm.auditEntry.updateMany({
      where: { organizationId: id, credentialId: row.id },
      data: { at: days(11) },
    })
    await gateway.db.orm.credential.update({ where: { id: row.id }, data: { expiresAt: days(31) } })
    await gateway.db.query(sweepNow)
    await waitFor(async () => (await gateway.db.query(sweepWaits))[0]?.waits, { what: 'the sweep' })
    expect((await entriesOf(id)).map(({ actorKind, action }) => [actorKind, action])).toEqual([
      ['operator', 'organization.created'],
      ['operator', 'credential.created'],
      ['system', 'credential.expired'],
    ])
  })

  it('is read page by page, newest first, without a limit or gap', async () => {
    const { id } = await gateway.organization()
    const at = new Date()
    await gateway.db.orm.auditEntry.createMany({
      data: Array.from({ length: 1203 }, (_, number) => ({
        at: new Date(at.getTime() + Math.floor(number / 7)),
        organizationId: id,
        actorKind: 'system',
        action: 'credential.changed',
        details: { number },
      })),
    })
    const pages = await pagesOf({ organizationId: id, since: at }, 1100)
    expect(pages.map((page) => page.length)).toEqual([500, 500, 100])
    const numbers = pages.flat().map(({ details }) => JSON.parse(JSON.stringify(details)).number)
    expect(numbers).toEqual(Array.from({ length: 1100 }, (_, index) => 1202 - index))
  })
})
