import { type Answer, type Api, startGateway, type TestGateway } from './gateway.ts'
import { newKey } from './signatures/signing.ts'

const CROWD = 20

/** Within one process the changes of an organization are serialized; between two only the database separates them. */
describe('concurrent requests of one organization to two gateways', () => {
  let gateway: TestGateway
  let doors: ((key: string) => Api)[]

  beforeAll(async () => {
    const limit = { POD_LIMIT: '4' }
    gateway = await startGateway(limit)
    doors = [gateway.as, (await gateway.another(limit)).as]
  })
  afterAll(() => gateway.stop())

  /** The same number of requests through each. */
  function crowd(key: string, ask: (api: Api, number: number) => Promise<Answer>): Promise<Answer[]> {
    const asked = Array.from({ length: CROWD }, (_, number) => ({ number, api: doors[number % doors.length]?.(key) }))
    return Promise.all(asked.flatMap(({ api, number }) => (api === undefined ? [] : [ask(api, number)])))
  }

  function statuses(answers: readonly Answer[]): Record<number, number> {
    const counts: Record<number, number> = {}
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
    return counts
  }

  it.each([
    ['inboxes', '/v0/inboxes', 3],
    ['pods besides the default one', '/v0/pods', 3],
    ['keys besides the first one', '/v0/api-keys', 4],
  ])('create no more %s than allowed', async (_what, path, free) => {
    const { id, key } = await gateway.organization({ inboxes: 3 })
    await gateway.operator.setLimits(id, { keys: 5 })
    const answers = await crowd(key, (api) => api.post(path, {}))
    expect(statuses(answers)).toEqual({ 200: free, 403: CROWD - free })
    const refused = answers.filter(({ status }) => status === 403).map(({ body }) => body['code'])
    expect(new Set(refused)).toEqual(new Set(['limit_exceeded']))
    expect((await gateway.as(key).get('/v0/organizations')).body['inbox_count']).toBe(path === '/v0/inboxes' ? 3 : 0)
  })

  it.each([
    ['inbox', '/v0/inboxes', {}, 'inbox_id'],
    ['pod', '/v0/pods', {}, 'pod_id'],
    ['public key', '/v0/api-keys', { public_key: newKey().jwk }, 'api_key_id'],
  ])('create one %s for all requests with one client_id', async (_what, path, body, id) => {
    const { key } = await gateway.organization()
    const answers = await crowd(key, (api) => api.post(path, { ...body, client_id: 'the-same' }))
    expect(statuses(answers)).toEqual({ 200: CROWD })
    expect(new Set(answers.map((answer) => answer.body[id])).size).toBe(1)
  })

  it('merge every change of metadata', async () => {
    const { key } = await gateway.organization()
    const { body } = await gateway.as(key).post('/v0/inboxes')
    const path = `/v0/inboxes/${body['inbox_id']}`
    const answers = await crowd(key, (api, number) => api.patch(path, { metadata: { [`key${number}`]: number } }))
    expect(statuses(answers)).toEqual({ 200: CROWD })
    expect(Object.keys(Object((await gateway.as(key).get(path)).body['metadata']))).toHaveLength(CROWD)
  })

  it('delete an inbox once, and count it once', async () => {
    const { key } = await gateway.organization()
    const { body } = await gateway.as(key).post('/v0/inboxes')
    const answers = await crowd(key, (api) => api.delete(`/v0/inboxes/${body['inbox_id']}`))
    expect(statuses(answers)).toEqual({ 204: 1, 404: CROWD - 1 })
    expect((await gateway.as(key).get('/v0/organizations')).body['inbox_count']).toBe(0)
  })
})
