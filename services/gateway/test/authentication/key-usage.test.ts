import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { startGateway, type TestGateway } from '../gateway.ts'

const USED = sql<never, [id: string, secondsAgo: number]>(
  'update credentials set used_at = now() - make_interval(secs => $2) where id = $1::uuid',
)

describe('the last use of a key', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  let id: string
  let secret: string

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
    const { body } = await organization.api.post('/v0/api-keys')
    id = String(body['api_key_id'])
    secret = String(body['api_key'])
  })
  afterAll(() => gateway.stop())

  const usedAt = async () => (await gateway.db.orm.credential.findUniqueOrThrow({ where: { id } })).usedAt?.getTime()

  /** Uses the key in a process that has not seen it, and ends the process, which writes its record. */
  async function useElsewhere(): Promise<void> {
    const other = await gateway.another()
    expect((await other.as(secret).get('/v0/auth/me')).status).toBe(200)
    await other.service.stop()
  }

  it('is absent until the first use, and is recorded then', async () => {
    expect((await organization.api.get(`/v0/api-keys/${id}`)).body).not.toHaveProperty('used_at')
    await gateway.as(secret).get('/v0/auth/me')
    await waitFor(usedAt, { what: 'the first use' })
  })

  it('is not written again within a minute, by no process', async () => {
    await gateway.db.query(USED, id, 20)
    const before = await usedAt()
    await useElsewhere()
    expect(await usedAt()).toBe(before)
  })

  it('changes once a minute has passed', async () => {
    await gateway.db.query(USED, id, 61)
    const before = await usedAt()
    await useElsewhere()
    expect(await usedAt()).toBeGreaterThan((before ?? 0) + 60_000)
  })

  it('is not changed by a refused request', async () => {
    await gateway.db.query(USED, id, 61)
    const before = await usedAt()
    const other = await gateway.another()
    expect((await other.as(`${secret}0`).get('/v0/auth/me')).status).toBe(401)
    await other.service.stop()
    expect(await usedAt()).toBe(before)
  })
})
