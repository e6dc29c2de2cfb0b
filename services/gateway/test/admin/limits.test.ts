import { EXIT } from '../../src/admin/program.ts'
import { sendingInbox } from '../../src/edge/access/scope.ts'
import { callerOf } from '../fake-upstreams.ts'
import { CALLER_KEY, startGateway, type TestGateway } from '../gateway.ts'
import { attemptOn } from './stores.ts'

const HOUR = 3_600
const DAY = 24 * HOUR

describe('the operator’s commands on limits of sends', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  const attempt = (...words: readonly string[]) => attemptOn(gateway, ['limits', ...words])

  /** The limits that a service is told for a send of the organization. */
  async function toldTo(api: Awaited<ReturnType<TestGateway['organization']>>['api'], inbox: unknown) {
    gateway.behind.record()
    expect((await api.post(`/v0/inboxes/${inbox}/messages/send`, { to: ['a@b.test'] })).status).toBe(200)
    const request = gateway.behind.seen.at(-1)
    if (request === undefined) throw new Error('nothing arrived')
    return (await callerOf(request, 'messages.send', CALLER_KEY)).send_limits
  }

  it('sets, shows and clears them, which the next send is told', async () => {
    const { id, api } = await gateway.organization()
    const inbox = (await api.post('/v0/inboxes', {})).body['inbox_id']
    expect(await toldTo(api, inbox)).toBeUndefined()
    expect((await attempt('show', id)).printed).toMatch(
      /^organization +the installation's\neach pod +the inst.*\neach inbox/,
    )
    const set = await attempt('set', id, '--organization', '100/h,1000/30d', '--inbox', 'none')
    expect(set.printed).toMatch(/^organization +100\/h,1000\/30d\neach pod +the installation's\neach inbox +none$/)
    const organization = [
      { recipients: 100, window_seconds: HOUR },
      { recipients: 1_000, window_seconds: 30 * DAY },
    ]
    expect(await toldTo(api, inbox)).toEqual({ organization, inbox: [] })
    await attempt('set', id, '--inbox', 'default', '--pod', '5/2h')
    expect(await toldTo(api, inbox)).toEqual({ organization, pod: [{ recipients: 5, window_seconds: 2 * HOUR }] })
    expect(JSON.parse((await attempt('show', id, '--json')).printed)).toEqual({
      organization: '100/h,1000/30d',
      pod: '5/2h',
    })
    expect((await attempt('clear', id)).code).toBe(EXIT.done)
    expect((await attempt('clear', id)).said).toBe('Unchanged.')
    expect(await toldTo(api, inbox)).toBeUndefined()
  })

  it('tells them for a scheduled draft, too', async () => {
    const { id, api } = await gateway.organization()
    const address = (await api.post('/v0/inboxes', {})).body['inbox_id']
    await attempt('set', id, '--pod', '7/d')
    const uid = (await gateway.db.orm.inbox.findFirstOrThrow({ where: { address: String(address) } })).uid
    expect(await sendingInbox(gateway.db, uid)).toMatchObject({
      send_limits: { pod: [{ recipients: 7, window_seconds: DAY }] },
    })
  })

  it('records each change, by the operator, and tells other services of it', async () => {
    const { id } = await gateway.organization()
    await attempt('set', id, '--organization', '100/h')
    await attempt('set', id, '--organization', '100/h')
    await attempt('clear', id)
    const entries = await gateway.db.orm.auditEntry.findMany({
      where: { organizationId: id, action: 'organization.changed' },
      orderBy: { at: 'asc' },
    })
    expect(entries.map(({ actorId, details }) => [actorId, details])).toEqual([
      ['tester', { before: { organization_send_limit: null }, after: { organization_send_limit: '100/h' } }],
      ['tester', { before: { organization_send_limit: '100/h' }, after: { organization_send_limit: null } }],
    ])
    expect((await gateway.events(id)).filter(({ type }) => type === 'organization.changed')).toHaveLength(3)
  })

  it.each([
    ['no limit', ['--organization', '100'], EXIT.misused],
    ['a window of no length', ['--pod', '100/0h'], EXIT.misused],
    ['an empty list', ['--inbox', ''], EXIT.misused],
    ['nothing', [], EXIT.refused],
  ])('refuses %s', async (_what, words, code) => {
    const { id } = await gateway.organization()
    expect((await attempt('set', id, ...words)).code).toBe(code)
  })

  it('refuses an organization that does not exist', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000'
    expect(await attempt('set', unknown, '--pod', '1/d')).toMatchObject({
      code: EXIT.refused,
      said: expect.stringContaining(unknown),
    })
    expect((await attempt('show', 'acme')).code).toBe(EXIT.refused)
  })
})
