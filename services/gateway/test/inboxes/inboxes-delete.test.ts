import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { startGateway, type TestGateway } from '../gateway.ts'

const REMOVE_INBOX = sql<never, [keyId: string]>(
  'delete from inboxes where uid = (select inbox_uid from credentials where id = $1)',
)
const REMOVE_POD = sql<never, [keyId: string]>(
  'delete from pods where id = (select pod_id from credentials where id = $1)',
)

describe('deleting inboxes', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
  })
  afterAll(() => gateway.stop())

  describe('DELETE /v0/inboxes/{inbox_id}', () => {
    it('204, and everything that names it is invalid', async () => {
      const { id, api } = await gateway.organization({ inboxes: 1 })
      await api.post('/v0/inboxes', { username: 'leaving', client_id: 'leaving' })
      const bound = await gateway.operator.createKey({ organizationId: id, inbox: 'leaving@restante.test' })
      const inboxKey = gateway.as(bound.secret)
      expect((await inboxKey.get('/v0/auth/me')).status).toBe(200)

      expect(await api.delete('/v0/inboxes/leaving@restante.test')).toMatchObject({ status: 204, body: {} })

      expect((await api.get('/v0/inboxes/leaving@restante.test')).status).toBe(404)
      expect((await api.delete('/v0/inboxes/leaving@restante.test')).status).toBe(404)
      expect((await inboxKey.get('/v0/auth/me')).body['code']).toBe('unknown_api_key')
      expect((await api.get('/v0/organizations')).body['inbox_count']).toBe(0)
      const events = await gateway.events(id)
      expect(events.slice(-2).map(({ type }) => type)).toEqual(['credential.deleted', 'inbox.deleted'])
      expect(events.at(-1)?.payload).toMatchObject({ address: 'leaving@restante.test', version: 2 })
    })

    it.each([
      ['inbox', REMOVE_INBOX, 'credentials_inbox_uid_fkey'],
      ['pod', REMOVE_POD, 'credentials_pod_id_fkey'],
    ])('cannot orphan a key of the %s: the database refuses', async (tier, remove, constraint) => {
      const { id, api } = await gateway.organization()
      const pod = String((await api.post('/v0/pods', { name: 'Bound' })).body['pod_id'])
      await api.post('/v0/inboxes', { username: `bound-${tier}` })
      const to = tier === 'pod' ? { pod } : { inbox: `bound-${tier}@restante.test` }
      const { row, secret } = await gateway.operator.createKey({ organizationId: id, ...to })
      await expect(gateway.db.query(remove, row.id)).rejects.toMatchObject({ code: '23503', constraint })
      expect((await gateway.as(secret).get('/v0/auth/me')).status).toBe(200)
    })

    it('is done by client_id, through the pod, and by the key of the inbox', async () => {
      const names = await Promise.all(
        [0, 1, 2].map(async (at) => {
          const { body } = await organization.api.post('/v0/inboxes', { client_id: `leaving-${at}` })
          return String(body['inbox_id'])
        }),
      )
      const own = await gateway.operator.createKey({ organizationId: organization.id, inbox: 'leaving-2' })
      const answers = [
        await organization.api.delete('/v0/inboxes/leaving-0'),
        await organization.api.delete(`/v0/pods/${organization.id}/inboxes/${names[1]}`),
        await gateway.as(own.secret).delete(`/v0/inboxes/${names[2]}`),
      ]
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204])
      for (const name of names) expect((await organization.api.get(`/v0/inboxes/${name}`)).status).toBe(404)
    })

    it('answers one of many concurrent requests with 204 and the others with 404', async () => {
      const { body } = await organization.api.post('/v0/inboxes')
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => organization.api.delete(`/v0/inboxes/${body['inbox_id']}`)),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)])
    })

    it('403 without inbox_delete; 404 out of reach', async () => {
      const { body } = await organization.api.post('/v0/inboxes')
      const path = `/v0/inboxes/${body['inbox_id']}`
      const reader = await gateway.operator.createKey({ organizationId: organization.id, permissions: ['inbox_read'] })
      expect((await gateway.as(reader.secret).delete(path)).body['code']).toBe('missing_permission')
      expect((await (await gateway.organization()).api.delete(path)).status).toBe(404)
      expect((await organization.api.get(path)).status).toBe(200)
    })

    it('frees alias and address for the own organization, and reserves the address against others', async () => {
      const first = await organization.api.post('/v0/inboxes', { username: 'retired', client_id: 'retired' })
      await organization.api.delete('/v0/inboxes/retired')
      const stranger = await gateway.organization()
      expect((await stranger.api.post('/v0/inboxes', { username: 'retired' })).body['code']).toBe('resource_taken')
      const createAgain = () => organization.api.post('/v0/inboxes', { username: 'retired', client_id: 'retired' })
      const again = await waitFor(
        async () => {
          const answer = await createAgain()
          return answer.status === 200 && answer
        },
        { what: 'the address to be purged' },
      )
      expect(again.body['created_at']).not.toBe(first.body['created_at'])
    })

    it('reserves the address against others for 30 days and no longer', async () => {
      const { body } = await organization.api.post('/v0/inboxes')
      const [username = ''] = String(body['inbox_id']).split('@')
      const deletedAt = Date.now()
      await organization.api.delete(`/v0/inboxes/${body['inbox_id']}`)
      const where = { address: String(body['inbox_id']) }
      const { until } = await gateway.db.orm.retiredAddress.findUniqueOrThrow({ where })
      expect(Math.round((until.getTime() - deletedAt) / 86_400_000)).toBe(30)
      const purged = async () => (await gateway.db.orm.inbox.count({ where })) === 0
      await waitFor(purged, { what: 'the address to be purged' })
      const stranger = await gateway.organization()
      expect((await stranger.api.post('/v0/inboxes', { username })).body['code']).toBe('resource_taken')
      await gateway.db.orm.retiredAddress.update({ where, data: { until: new Date(0) } })
      expect((await stranger.api.post('/v0/inboxes', { username })).status).toBe(200)
    })
  })
})
