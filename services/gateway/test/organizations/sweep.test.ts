import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { startGateway, type TestGateway } from '../gateway.ts'

const makeDue = sql<never>("update timers set due_at = now() where kind = 'sweep'")
const isSetAnew = sql<{ due: boolean }>(
  "select due_at > now() + interval '50 m' as due from timers where kind = 'sweep'",
)
const dueAt = sql<{ due_at: Date }>("select due_at from timers where kind = 'sweep'")

describe('the hourly sweep', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({ RETIRED_ADDRESS_PERIOD: '0s' })
  })
  afterAll(() => gateway.stop())

  it('removes expired rows, publishes the removal of keys, and reschedules itself', async () => {
    const { id, api } = await gateway.organization()
    const old = await gateway.operator.createKey({ organizationId: id })
    const recent = await gateway.operator.createKey({ organizationId: id })
    const expire = (key: string, days: number) =>
      gateway.db.orm.credential.update({
        where: { id: key },
        data: { expiresAt: new Date(Date.now() - days * 86_400_000) },
      })
    await Promise.all([expire(old.row.id, 31), expire(recent.row.id, 29)])
    const listed = async () => {
      const { body } = await api.get('/v0/api-keys')
      return Array.isArray(body['api_keys']) ? body['api_keys'].map((key) => key.api_key_id) : []
    }
    expect(await listed()).not.toContain(old.row.id)
    expect(await listed()).toContain(recent.row.id)
    await api.post('/v0/inboxes', { username: 'swept' })
    await api.delete('/v0/inboxes/swept@restante.test')

    const pods = [await api.post('/v0/pods'), await api.post('/v0/pods')].map(({ body }) => String(body['pod_id']))
    const { body: inside } = await api.post(`/v0/pods/${pods[1]}/inboxes`)
    gateway.behind.purging.add('/internal/purge-inbox/mail-ingest')
    await api.delete(`/v0/inboxes/${inside['inbox_id']}`)
    for (const pod of pods) await api.delete(`/v0/pods/${pod}`)

    await gateway.db.query(makeDue)
    await waitFor(async () => (await gateway.db.orm.retiredAddress.count()) === 0, { what: 'the sweep to begin' })
    await waitFor(async () => (await gateway.db.query(isSetAnew))[0]?.due, { what: 'the sweep to end' })
    const tombstones = await gateway.db.orm.pod.findMany({ where: { deletedAt: { not: null } }, select: { id: true } })
    expect(tombstones).toEqual([{ id: pods[1] }])
    expect((await gateway.events(id)).at(-1)).toMatchObject({ type: 'credential.deleted', subject: old.row.id })
    expect(await gateway.db.orm.credential.findUnique({ where: { id: recent.row.id } })).not.toBeNull()
  })

  it('is not postponed by starting processes', async () => {
    const before = await gateway.db.query(dueAt)
    const { service } = await gateway.another()
    await service.stop()
    expect(before).toHaveLength(1)
    expect(await gateway.db.query(dueAt)).toEqual(before)
  })
})
