import { type Answer, startGateway, type TestGateway } from '../gateway.ts'

/** As many requests as a key has here before it is over its limit for an hour. */
const BURST = 60
const TOO_LARGE = 'x'.repeat(1_100_000)

interface Request {
  readonly method: 'POST' | 'PATCH'
  readonly path: string
  readonly key: string
  readonly body: unknown
}

/** Something wrong with a request, and what it is answered when everything after it in the list is wrong too. */
interface Fault {
  readonly step: string
  readonly of: Partial<Request>
  readonly answer: object
}

/** Keys by what is wrong with them; the earlier a fault is found, the more else is wrong with its key. */
interface Keys {
  readonly exhausted: string
  readonly inbox: string
  readonly powerless: string
  readonly elsewhere: string
  readonly good: string
}

const refused = (status: number, code: string, message?: string): object => ({
  status,
  body: { code, ...(message !== undefined && { message }) },
})

describe('when several checks of a request fail, the response is that of the first', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  let pod: string
  let foreignPod: string
  let inbox: string
  let foreignInbox: string
  let keys: Keys

  beforeAll(async () => {
    gateway = await startGateway({ RATE_LIMIT_CREDENTIAL: '1/h', RATE_LIMIT_CREDENTIAL_BURST: String(BURST) })
    organization = await gateway.organization()
    const { api } = organization
    const made = async (path: string, body: object, member: string) => String((await api.post(path, body)).body[member])
    pod = await made('/v0/pods', { name: 'ours' }, 'pod_id')
    const other = await made('/v0/pods', { name: 'other' }, 'pod_id')
    inbox = await made(`/v0/pods/${pod}/inboxes`, { username: 'ours' }, 'inbox_id')
    const stranger = await gateway.organization()
    foreignPod = stranger.id
    foreignInbox = String((await stranger.api.post('/v0/inboxes', { username: 'foreign' })).body['inbox_id'])
    const none = { permissions: { inbox_read: true } }
    keys = {
      exhausted: await made(`/v0/inboxes/${inbox}/api-keys`, none, 'api_key'),
      inbox: await made(`/v0/inboxes/${inbox}/api-keys`, none, 'api_key'),
      powerless: await made(`/v0/pods/${other}/api-keys`, none, 'api_key'),
      elsewhere: await made(`/v0/pods/${other}/api-keys`, {}, 'api_key'),
      good: await made(`/v0/pods/${pod}/api-keys`, {}, 'api_key'),
    }
    const drained = gateway.as(keys.exhausted)
    await Promise.all(Array.from({ length: BURST }, () => drained.get('/v0/auth/me')))
  })
  afterAll(() => gateway.stop())

  async function send({ method, path, key, body }: Request): Promise<Answer> {
    const api = gateway.as(key)
    return method === 'PATCH' ? api.patch(path, body) : api.post(path, body)
  }

  /** Each fault together with all that follow it, and at last the request that is right. */
  async function expectOrder(right: Request, faults: readonly Fault[], success: object): Promise<void> {
    for (const [index, { step, answer }] of faults.entries()) {
      const wrong = Object.assign(
        {},
        right,
        ...faults
          .slice(index)
          .reverse()
          .map(({ of }) => of),
      )
      const { status, body } = await send(wrong)
      expect({ step, status, body }).toMatchObject({ step, ...answer })
    }
    expect(await send(right)).toMatchObject(success)
  }

  /** Steps 1 to 5: what is wrong before anything in the path is looked up. */
  const untilPermission = (nowhere: string, foreign: string): Fault[] => [
    { step: 'route', of: { path: nowhere, key: 'am_us_wrong' }, answer: refused(404, 'not_found', 'Route not found') },
    { step: 'key', of: { path: foreign, key: 'am_us_wrong' }, answer: refused(401, 'unknown_api_key') },
    { step: 'rate', of: { path: foreign, key: keys.exhausted }, answer: refused(429, 'rate_limit_exceeded') },
  ]

  it('for an operation of the gateway', async () => {
    const foreign = `/v0/pods/${foreignPod}/api-keys`
    await expectOrder(
      { method: 'POST', path: `/v0/pods/${pod}/api-keys`, key: keys.good, body: { permissions: {} } },
      [
        ...untilPermission(`${foreign}/nothing/here`, foreign),
        { step: 'tier', of: { path: foreign, key: keys.inbox }, answer: refused(403, 'forbidden') },
        { step: 'permission', of: { path: foreign, key: keys.powerless }, answer: refused(403, 'missing_permission') },
        {
          step: 'scope',
          of: { path: foreign, key: keys.elsewhere },
          answer: refused(404, 'not_found', 'Pod not found'),
        },
        { step: 'size', of: { body: TOO_LARGE }, answer: refused(413, 'payload_too_large') },
        { step: 'JSON', of: { body: '{"name":' }, answer: { status: 400, body: { name: 'SyntaxError' } } },
        {
          step: 'schema',
          of: { body: { name: 7, expires_at: '2020-01-01' } },
          answer: refused(400, 'validation_error'),
        },
      ],
      { status: 200 },
    )
  })

  it('for an operation on one resource', async () => {
    const foreign = `/v0/inboxes/${foreignInbox}`
    const gone = `/v0/pods/${pod}/inboxes/nobody@restante.test`
    await expectOrder(
      { method: 'PATCH', path: `/v0/pods/${pod}/inboxes/${inbox}`, key: keys.good, body: { display_name: 'Ours' } },
      [
        ...untilPermission(`${foreign}/nothing/here`, foreign),
        { step: 'permission', of: { path: foreign, key: keys.powerless }, answer: refused(403, 'missing_permission') },
        {
          step: 'scope',
          of: { path: foreign, key: keys.elsewhere },
          answer: refused(404, 'not_found', 'Inbox not found'),
        },
        { step: 'scope of ours', of: { path: gone }, answer: refused(404, 'not_found', 'Inbox not found') },
        { step: 'size', of: { body: TOO_LARGE }, answer: refused(413, 'payload_too_large') },
        { step: 'schema', of: { body: { status: 'asleep' } }, answer: refused(400, 'validation_error') },
      ],
      { status: 200, body: { display_name: 'Ours' } },
    )
  })

  it('for an operation of another service, which sees none of these requests', async () => {
    gateway.behind.record(200, { webhook_id: 'ep_1' })
    const foreign = `/v0/pods/${foreignPod}/webhooks`
    await expectOrder(
      { method: 'POST', path: `/v0/pods/${pod}/webhooks`, key: keys.good, body: {} },
      [
        ...untilPermission(`${foreign}/nothing/here`, foreign),
        { step: 'tier', of: { path: foreign, key: keys.inbox }, answer: refused(403, 'forbidden') },
        { step: 'permission', of: { path: foreign, key: keys.powerless }, answer: refused(403, 'missing_permission') },
        {
          step: 'scope',
          of: { path: foreign, key: keys.elsewhere },
          answer: refused(404, 'not_found', 'Pod not found'),
        },
        { step: 'size', of: { body: TOO_LARGE }, answer: refused(413, 'payload_too_large') },
      ],
      { status: 200 },
    )
    expect(gateway.behind.seen).toHaveLength(1)
  })

  it('for operations denied to an unverified organization, and for a provisional key', async () => {
    const human_email = 'ordered@people.test'
    const signUp = () => gateway.as().post('/v0/agent/sign-up', { username: 'ordered', human_email })
    const first = await signUp()
    const agent = gateway.as(String(first.body['api_key']))
    expect(await agent.post('/v0/pods', '{')).toMatchObject(refused(403, 'missing_permission'))
    gateway.behind.received.add(String(first.body['organization_id']))
    const waiting = gateway.as(String((await signUp()).body['api_key']))
    expect(await waiting.post(`/v0/pods/${foreignPod}/inboxes`, '{')).toMatchObject(refused(403, 'missing_permission'))
  })

  it('reports existing resources before limits, and a client_id before both', async () => {
    const limited = await gateway.organization({ inboxes: 1 })
    const body = { username: 'only-one', client_id: 'only' }
    expect((await limited.api.post('/v0/inboxes', body)).status).toBe(200)
    expect(await limited.api.post('/v0/inboxes', body)).toMatchObject({ status: 200 })
    expect(await limited.api.post('/v0/inboxes', { username: 'only-one' })).toMatchObject(
      refused(403, 'already_exists'),
    )
    expect(await limited.api.post('/v0/inboxes', { username: 'another' })).toMatchObject(refused(403, 'limit_exceeded'))
    const bad = { client_id: 'only', username: 'no good' }
    expect(await limited.api.post('/v0/inboxes', bad)).toMatchObject(refused(400, 'validation_error'))
  })
})
