import { PURGING_SERVICES, purgeOperations } from '@restante/contracts/internal'
import { sql } from '@restante/service/database'
import { freePort, waitFor } from '@restante/testkit'
import { startGateway, type TestGateway } from '../gateway.ts'

const ROWS = sql<{ row: string }, [address: string]>(
  'select row_to_json(inboxes)::text as row from inboxes where address = $1',
)
const TIMERS = sql<{ key: string }>("select key from timers where kind = 'inbox-purge'")
const MAKE_DUE = sql<never>("update timers set due_at = now() where kind = 'inbox-purge' and lease_id is null")

describe('a deleted inbox', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  let count = 0

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
  })
  afterEach(() => {
    gateway.behind.purging.clear()
    gateway.behind.down = false
  })
  afterAll(() => gateway.stop())

  async function deleted(more: object = {}): Promise<{ username: string; address: string }> {
    const username = `leaving-${count++}`
    const address = `${username}@restante.test`
    await organization.api.post('/v0/inboxes', { username, ...more })
    expect((await organization.api.delete(`/v0/inboxes/${address}`)).status).toBe(204)
    return { username, address }
  }
  const create = (username: string) => organization.api.post('/v0/inboxes', { username })
  const rows = (address: string) => gateway.db.query(ROWS, address)
  const gone = (address: string) => waitFor(async () => (await rows(address)).length === 0, { what: 'the last of it' })

  it.each(Object.values(purgeOperations).map(({ path }) => path))(
    'keeps its address while one service still has something of it (%s)',
    async (path) => {
      gateway.behind.purging.add(path)
      const { username, address } = await deleted()
      await waitFor(() => gateway.behind.asked.some(({ inbox }) => inbox['address'] === address), {
        what: 'a question',
      })
      const answer = await create(username)
      expect(answer).toMatchObject({
        status: 409,
        body: { name: 'ResourceDeletingError', code: 'resource_deleting', fix: expect.any(String) },
      })
      expect(answer.headers.get('x-should-retry')).toBe('true')
      expect((await organization.api.get(`/v0/inboxes/${address}`)).status).toBe(404)
      gateway.behind.purging.clear()
      await gateway.db.query(MAKE_DUE)
      await waitFor(async () => (await create(username)).status === 200, { what: 'the address to be free' })
    },
  )

  it('reports its address as taken to others, even while it is being purged', async () => {
    gateway.behind.purging.add('/internal/purge-inbox/mail-send')
    const { username } = await deleted()
    const stranger = await gateway.organization()
    expect(await stranger.api.post('/v0/inboxes', { username })).toMatchObject({
      status: 403,
      body: { code: 'resource_taken' },
    })
  })

  it('frees its names at once, and its row when every service has answered once', async () => {
    gateway.behind.purging.add('/internal/purge-inbox/mail-ingest')
    const names = { display_name: 'Secret Name', client_id: 'secret-alias', metadata: { key: 'secret value' } }
    const { address } = await deleted(names)
    const [row] = await rows(address)
    expect(row?.row).not.toMatch(/secret/i)
    const questions = () => gateway.behind.asked.filter(({ inbox }) => inbox['address'] === address)
    await waitFor(() => questions().length > PURGING_SERVICES.length, { what: 'a second question' })
    gateway.behind.purging.clear()
    await gone(address)
    const asked = Map.groupBy(questions(), ({ path }) => path)
    expect(asked.get('/internal/purge-inbox/mail-send')).toHaveLength(1)
    expect(asked.get('/internal/purge-inbox/webhooks-dispatcher')).toHaveLength(1)
    expect(questions()[0]?.inbox).toEqual({
      organization_id: organization.id,
      pod_id: organization.id,
      inbox_uid: expect.any(String),
      address,
      deleted_at: expect.any(String),
    })
  })

  it('waits for a service that is down, and across a restart of the gateway', async () => {
    gateway.behind.down = true
    const { username, address } = await deleted()
    expect((await create(username)).status).toBe(409)
    const another = await gateway.another()
    gateway.behind.down = false
    await gateway.db.query(MAKE_DUE)
    await gone(address)
    expect((await another.as(organization.key).post('/v0/inboxes', { username })).status).toBe(200)
  })

  it('is counted in the metrics until it is purged', async () => {
    const port = await freePort()
    await gateway.another({ METRICS_PORT: String(port) })
    const read = async (name: string, of: string) => {
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      return Number(new RegExp(`^restante_purges_${name}{of="${of}"} (.+)$`, 'm').exec(metrics)?.[1])
    }
    await waitFor(async () => (await read('waiting', 'inbox')) === 0, { what: 'the purges of other tests' })
    gateway.behind.purging.add('/internal/purge-inbox/mail-ingest')
    await deleted()
    await waitFor(async () => (await read('waiting', 'inbox')) === 1, { what: 'the metric' })
    expect(await read('oldest_seconds', 'inbox')).toBeGreaterThan(0)
    expect(await read('waiting', 'organization')).toBe(0)
    gateway.behind.purging.clear()
    await gateway.db.query(MAKE_DUE)
    await waitFor(async () => (await read('waiting', 'inbox')) === 0, { what: 'nothing to wait' })
  })

  it('is published, and waited for, only if its deletion was committed', async () => {
    await waitFor(async () => (await gateway.db.query(TIMERS)).length === 0, { what: 'the purges of other tests' })
    expect((await organization.api.delete('/v0/inboxes/nobody@restante.test')).status).toBe(404)
    expect(await gateway.db.query(TIMERS)).toEqual([])
  })

  it('frees its address once each service has been asked, when none stores data of it', async () => {
    const { username, address } = await deleted()
    await gone(address)
    const asked = gateway.behind.asked.filter(({ inbox }) => inbox['address'] === address)
    expect(asked).toHaveLength(PURGING_SERVICES.length)
    expect((await create(username)).status).toBe(200)
  })
})
