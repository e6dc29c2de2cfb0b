import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { serviceCommand } from '@restante/service/process'
import { byLength, trueUntil, waitFor } from '@restante/testkit'
import { EXIT, execute } from '../../src/admin/program.ts'
import { resolveRecipients } from '../../src/inboxes/recipients.ts'
import { storesOf } from '../admin/stores.ts'
import { type Api, startGateway, type TestGateway } from '../gateway.ts'

const MAIN = path.resolve(import.meta.dirname, '../../src/main.ts')
const MAILBOXES = '/internal/purge-inbox/mail-ingest'

const everywhere = sql<{ table: string; rows: number }, [organizationId: string]>(`
select 'organizations' as table, count(*)::int as rows from organizations where id = $1
union all select 'pods', count(*)::int from pods where organization_id = $1
union all select 'inboxes', count(*)::int from inboxes where organization_id = $1
union all select 'credentials', count(*)::int from credentials where organization_id = $1
union all select 'verification_codes', count(*)::int from verification_codes where organization_id = $1
union all select 'counted_sign_in_keys', count(*)::int from counted_sign_in_keys where organization_id = $1
union all select 'sign_in_key_revocations', count(*)::int from sign_in_key_revocations where organization_id = $1
union all select 'timers', count(*)::int from timers where kind not in ('sweep', 'pending-sign-in-keys')`)
const manyInboxes = sql<never, [organizationId: string, podId: string, count: number]>(`
insert into inboxes (uid, organization_id, pod_id, address, created_at, updated_at)
select gen_random_uuid(), $1, $2::uuid, 'many-' || number || '-' || $2::uuid || '@restante.test', now(), now()
  from generate_series(1, $3) as number`)
const countInboxes = sql<never, [organizationId: string]>(
  'update organizations set inbox_count = (select count(*) from inboxes where organization_id = $1) where id = $1',
)
const liveInboxes = sql<{ count: number }, [organizationId: string]>(
  'select count(*)::int as count from inboxes where organization_id = $1 and deleted_at is null',
)
const livePods = sql<{ count: number }, [organizationId: string]>(
  'select count(*)::int as count from pods where organization_id = $1 and deleted_at is null',
)
const nowPurged = sql<never, [organizationId: string]>(
  'update inboxes set deleted_at = now() where organization_id = $1',
)
const onePurged = sql<never, [organizationId: string]>(
  'delete from inboxes where uid in (select uid from inboxes where organization_id = $1 and deleted_at is not null limit 1)',
)
const allPurged = sql<never, [organizationId: string]>(
  'delete from inboxes where organization_id = $1 and deleted_at is not null',
)
const looksAt = sql<{ attempt: number }, [organizationId: string]>(
  "select attempt from timers where kind = 'organization-deletion' and key = $1",
)
const endLeases = sql<never>('update timers set leased_until = now() where lease_id is not null')
const hold = sql<never, [id: string]>('select id from organizations where id = $1 for update')
const blocked = sql<{ pid: number }>(
  "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
)

describe('the deletion of an organization', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  /** The command, at a terminal where `answer` is typed, or at none. */
  async function command(words: readonly string[], answer?: string) {
    const lines: string[] = []
    const keep = (line: string) => void lines.push(line)
    const code = await execute(
      {
        ...storesOf(gateway),
        print: keep,
        say: keep,
        ask: async () => answer,
      },
      words,
    )
    return { code, text: lines.join('\n') }
  }
  const remove = (id: string, ...more: string[]) => command(['organizations', 'delete', id, '--yes', ...more])
  const status = async (id: string) => (await command(['organizations', 'show', id])).text

  async function gone(id: string): Promise<void> {
    await waitFor(() => gateway.operator.isGone(id), { what: 'the end of the organization' })
  }

  it('leaves nothing but the audit log, and publishes each deletion once, children before parents', async () => {
    const { id, key, api } = await gateway.organization()
    const pod = (await api.post('/v0/pods', { name: 'Second' })).body['pod_id']
    await api.post('/v0/inboxes', { username: 'torn' })
    await api.post(`/v0/pods/${pod}/inboxes`, { username: 'down' })
    await api.post('/v0/inboxes/torn@restante.test/api-keys')
    await api.post(`/v0/pods/${pod}/api-keys`)
    expect(await remove(id, '--wait')).toMatchObject({ code: EXIT.done, text: expect.stringContaining('is gone') })

    const rows = await gateway.db.query(everywhere, id)
    expect(rows.filter((row) => row.rows > 0)).toEqual([])
    const events = (await gateway.events(id)).filter(({ type }) => type.endsWith('.deleted'))
    expect(events.map(({ type }) => type)).toEqual([
      'credential.deleted',
      'credential.deleted',
      'credential.deleted',
      'inbox.deleted',
      'inbox.deleted',
      'pod.deleted',
      'pod.deleted',
      'organization.deleted',
    ])
    expect(events.slice(5).map(({ subject }) => subject)).toEqual([pod, id, id])
    expect((await gateway.as(key).get('/v0/auth/me')).body['code']).toBe('unknown_api_key')
    expect(await remove(id)).toMatchObject({ code: EXIT.refused, text: expect.stringContaining('was not found') })

    const audit = (await command(['audit', '--organization', id, '--json'])).text.split('\n')
    const entries = audit.map((line) => JSON.parse(line)).reverse()
    expect(entries.slice(-5).map(({ action, actor }) => [action, actor.kind])).toEqual([
      ['credential.revoked', 'operator'],
      ['credential.revoked', 'operator'],
      ['credential.revoked', 'operator'],
      ['organization.deleting', 'operator'],
      ['organization.deleted', 'system'],
    ])
    expect(entries.at(-3).details).toEqual({ because: 'organization deleted' })
  })

  it('accepts neither mail nor keys from the start, and lets nothing be created in it', async () => {
    const { id, key, api } = await gateway.organization()
    await api.post('/v0/inboxes', { username: 'closing' })
    const recipients = () => resolveRecipients(gateway.db, ['closing@restante.test'])
    expect(await recipients()).toMatchObject([{ status: 'deliver' }])
    const creation = await gateway.db.transaction(async (tx) => {
      await tx.query(hold, id)
      const creating = api.post('/v0/inboxes', { username: 'too-late' })
      const deleting = waitFor(async () => (await gateway.db.query(blocked)).length > 0, { what: 'the create to wait' })
      await deleting
      const removal = remove(id)
      await waitFor(async () => (await gateway.db.query(blocked)).length > 1, { what: 'the deletion to wait' })
      return { creating, removal }
    })
    expect((await creation.creating).status).toBe(200)
    expect((await creation.removal).code).toBe(EXIT.done)
    expect(await recipients()).toEqual([{ status: 'unknown', given: 'closing@restante.test' }])
    const isAdmitted = async () => (await api.get('/v0/auth/me')).status !== 401
    expect(await trueUntil(isAdmitted, { what: 'the key to die' })).toBeLessThan(LIMITS.apiKey.cache)
    for (const attempt of [gateway.as(key).post('/v0/inboxes'), gateway.as(key).post('/v0/api-keys')]) {
      expect((await attempt).status).toBe(401)
    }
    await gone(id)
    expect((await gateway.events(id)).at(-1)?.type).toBe('organization.deleted')
  })

  it.each([
    ['POST /v0/inboxes', (api: Api) => api.post('/v0/inboxes')],
    ['POST /v0/pods', (api: Api) => api.post('/v0/pods')],
    ['POST /v0/api-keys', (api: Api) => api.post('/v0/api-keys')],
  ])('refuses a %s that waited for the organization while its deletion began', async (_call, call) => {
    const { id, api } = await gateway.organization()
    const { creating, removal } = await gateway.db.transaction(async (tx) => {
      await tx.query(hold, id)
      const removing = remove(id)
      await waitFor(async () => (await gateway.db.query(blocked)).length > 0, { what: 'the deletion to wait' })
      const late = call(api)
      await waitFor(async () => (await gateway.db.query(blocked)).length > 1, { what: 'the create to wait' })
      return { creating: late, removal: removing }
    })
    expect((await removal).code).toBe(EXIT.done)
    expect((await creating).body['code']).toBe('unknown_api_key')
    await gone(id)
  })

  it('waits for the purge by the other services; until then it can be read, but not changed', async () => {
    const { id, api } = await gateway.organization()
    await api.post('/v0/inboxes', { username: 'held' })
    gateway.behind.purging.add(MAILBOXES)
    try {
      await remove(id)
      await waitFor(async () => (await gateway.db.query(liveInboxes, id))[0]?.count === 0, { what: 'the inbox to go' })
      expect(await status(id)).toMatch(/status +deleting/)
      expect(await remove(id)).toMatchObject({ code: EXIT.done, text: expect.stringContaining('already') })
      for (const words of [
        ['organizations', 'resume'],
        ['organizations', 'limits'],
        ['keys', 'create'],
      ]) {
        expect(await command([...words, id])).toMatchObject({
          code: EXIT.refused,
          text: expect.stringContaining('being deleted'),
        })
      }
      expect((await gateway.events(id)).map(({ type }) => type)).not.toContain('organization.deleted')
    } finally {
      gateway.behind.purging.clear()
    }
    await gone(id)
  })

  it('has at most 500 inboxes purged at a time, so that other organizations do not wait for all of them', async () => {
    const { id, api } = await gateway.organization()
    await gateway.db.query(manyInboxes, id, id, 500)
    await gateway.db.query(nowPurged, id)
    await api.post('/v0/inboxes', { username: 'later' })
    const live = async () => (await gateway.db.query(liveInboxes, id))[0]?.count
    await remove(id)
    const looks = async () => (await gateway.db.query(looksAt, id))[0]?.attempt ?? 0
    await waitFor(async () => (await looks()) >= 2, { what: 'the deletion to look again' })
    expect(await live()).toBe(1)
    await gateway.db.query(onePurged, id)
    await waitFor(async () => (await live()) === 0, { what: 'the deletion to go on' })
    await gateway.db.query(allPurged, id)
    await gone(id)
  })

  it('frees the human at once and reserves addresses against others', async () => {
    const human = 'leaver@people.test'
    const signUp = (username: string) => gateway.as().post('/v0/agent/sign-up', { username, human_email: human })
    const first = await signUp('leaving')
    const id = String(first.body['organization_id'])
    await remove(id)
    expect((await signUp('leaving')).body['code']).toBe('resource_taken')
    const second = await signUp('returning')
    expect(second.status).toBe(200)
    expect(second.body['organization_id']).not.toBe(id)
    await gone(id)
    expect((await signUp('returning')).body['organization_id']).toBe(second.body['organization_id'])
    const other = await gateway.organization()
    expect((await other.api.post('/v0/inboxes', { username: 'leaving' })).body['code']).toBe('resource_taken')
  })

  it('asks before it begins, and accepts only the id as the answer', async () => {
    const { id, api } = await gateway.organization()
    const words = ['organizations', 'delete', id]
    expect(await command(words)).toMatchObject({ code: EXIT.refused, text: expect.stringContaining('--yes') })
    expect(await command(words, 'yes')).toMatchObject({ code: EXIT.refused, text: expect.stringContaining('Nothing') })
    expect(await command(words, '')).toMatchObject({ code: EXIT.refused })
    expect((await api.get('/v0/auth/me')).status).toBe(200)
    expect(await command(words, ` ${id} `)).toMatchObject({ code: EXIT.done })
    await gone(id)
  })
})

describe('the deletion of an organization whose gateway is killed repeatedly', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  it('publishes every event once', async () => {
    const { id, api } = await gateway.organization()
    const pods = await Promise.all([1, 2, 3].map(async (number) => api.post('/v0/pods', { name: `Pod ${number}` })))
    for (const { body } of pods) await gateway.db.query(manyInboxes, id, String(body['pod_id']), 120)
    await gateway.db.query(countInboxes, id)
    await gateway.service.stop()
    await gateway.operator.deleteOrganization(id)

    const live = async () => (await gateway.db.query(liveInboxes, id))[0]?.count ?? 0
    const isReached = {
      begun: async () => (await live()) < 360,
      half: async () => (await live()) < 160,
      inboxes: async () => (await live()) === 0,
      pods: async () => ((await gateway.db.query(livePods, id))[0]?.count ?? 0) <= 1,
      all: () => gateway.operator.isGone(id),
    }
    const { begun, half, inboxes, pods: podsToo, all } = isReached
    for (const reached of byLength({ short: [half, podsToo, all], long: [begun, half, inboxes, podsToo, all] })) {
      const [program, ...args] = serviceCommand(MAIN)
      const child = spawn(program, args, { env: { PATH: process.env['PATH'], ...gateway.env }, stdio: 'ignore' })
      try {
        await waitFor(reached, { what: 'the next step of the deletion', timeout: 60_000 })
      } finally {
        child.kill('SIGKILL')
        await once(child, 'exit')
        // In the long form the next process waits until the lease of the dead one is over.
        if (byLength({ short: true, long: false })) await gateway.db.query(endLeases)
      }
    }
    const events = await gateway.events(id)
    const deleted = (type: string) => events.filter((event) => event.type === type).map(({ subject }) => subject)
    expect([deleted('inbox.deleted').length, new Set(deleted('inbox.deleted')).size]).toEqual([360, 360])
    expect(deleted('pod.deleted').sort()).toEqual([id, ...pods.map(({ body }) => String(body['pod_id']))].sort())
    expect(deleted('organization.deleted')).toEqual([id])
    expect(events.at(-1)?.type).toBe('organization.deleted')
  })
})
