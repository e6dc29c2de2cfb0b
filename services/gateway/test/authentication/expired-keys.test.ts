import { sql } from '@restante/service/database'
import { startGateway, type TestGateway } from '../gateway.ts'

const LIMIT = 5

// Numbered in the order in which they expired, the longest expired first.
const expiredKeys = sql<never, [organizationId: string, count: number]>(`
insert into credentials (id, organization_id, tier, secret_hash, prefix, name, expires_at, created_at, updated_at)
select gen_random_uuid(), $1::uuid, 'organization', decode(md5(number || $1::text), 'hex'), 'am_us_00000000',
       'expired ' || number, now() - ($2::int - number) * interval '1 second' - interval '1 hour', now(), now()
  from generate_series(1, $2::int) as number`)

const expiredDaysAgo = sql<never, [id: string, days: number]>(
  'update credentials set expires_at = now() - make_interval(days => $2::int) where id = $1',
)

describe('keys that have expired', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ CREDENTIAL_LIMIT: String(LIMIT) })
  })
  afterAll(() => gateway.stop())

  const names = async (organizationId: string) => {
    const where = { organizationId, expiresAt: { lt: new Date() } }
    const rows = await gateway.db.orm.credential.findMany({ where, orderBy: { expiresAt: 'asc' } })
    return rows.map(({ name }) => name)
  }

  it('are kept up to the limit of live keys, so that they cannot block deletions', async () => {
    const { id, api } = await gateway.organization()
    const stranger = await gateway.organization()
    await gateway.db.query(expiredKeys, id, LIMIT + 2)
    await gateway.db.query(expiredKeys, stranger.id, LIMIT + 2)
    expect((await api.post('/v0/api-keys')).status).toBe(200)
    expect(await names(id)).toEqual([3, 4, 5, 6, 7].map((number) => `expired ${number}`))
    expect(await names(stranger.id)).toHaveLength(LIMIT + 2)
    expect((await gateway.events(id)).filter(({ type }) => type === 'credential.deleted')).toHaveLength(2)
    expect(await gateway.db.orm.auditEntry.count({ where: { organizationId: id, action: 'credential.expired' } })).toBe(
      2,
    )
  })

  it('are shown for 30 days, and then no more, swept or not', async () => {
    const { api } = await gateway.organization()
    const { body } = await api.post('/v0/api-keys', { name: 'old' })
    const path = `/v0/api-keys/${body['api_key_id']}`
    const listed = async () => JSON.stringify((await api.get('/v0/api-keys')).body).includes(String(body['api_key_id']))
    await gateway.db.query(expiredDaysAgo, String(body['api_key_id']), 29)
    expect([await listed(), (await api.get(path)).status]).toEqual([true, 200])
    await gateway.db.query(expiredDaysAgo, String(body['api_key_id']), 31)
    expect(await listed()).toBe(false)
    for (const answer of [await api.get(path), await api.patch(path, { name: 'new' }), await api.delete(path)]) {
      expect(answer).toMatchObject({ status: 404, body: { message: 'API key not found' } })
    }
  })

  it('are removed in batches, and count against no limit', async () => {
    const { id, api } = await gateway.organization()
    await gateway.db.query(expiredKeys, id, LIMIT + 150)
    expect((await api.post('/v0/api-keys')).status).toBe(200)
    expect(await names(id)).toHaveLength(LIMIT + 50)
    await gateway.operator.createKey({ organizationId: id })
    expect(await names(id)).toHaveLength(LIMIT)
  })
})
