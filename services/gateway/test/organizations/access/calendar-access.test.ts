import { waitFor } from '@restante/testkit'
import { EXIT, execute } from '../../../src/admin/program.ts'
import { storesOf } from '../../admin/stores.ts'
import { callerOf } from '../../fake-upstreams.ts'
import { type Api, CALLER_KEY, startGateway, type TestGateway } from '../../gateway.ts'

const REFUSAL = 'Calendar access is not enabled for this organization'

describe('calendars of an organization', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  let inbox: string

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
    inbox = String((await organization.api.post('/v0/inboxes', {})).body['inbox_id'])
  })
  afterAll(() => gateway.stop())
  beforeEach(() => run('organizations', 'calendar', organization.id, 'on'))

  async function run(...words: string[]): Promise<string> {
    const printed: string[] = []
    const print = (line: string) => printed.push(line)
    const code = await execute({ ...storesOf(gateway), print, say: print, ask: async () => undefined }, words)
    if (code !== EXIT.done) throw new Error(`exit ${code}: ${printed.join('\n')}`)
    return printed.join('\n')
  }

  /** A gateway keeps what it knows of a key for a second. */
  async function close(api: Api = organization.api): Promise<void> {
    await run('organizations', 'calendar', organization.id, 'off')
    const isClosed = async () => (await api.get(calendar())).status === 403
    await waitFor(isClosed, { what: 'the calendars to be closed' })
  }

  const calendar = (of = inbox) => `/v0/inboxes/${of}/calendar`

  it('are open unless the operator closes them, and each request passes on since when the inbox exists', async () => {
    gateway.behind.record()
    expect((await organization.api.get(calendar())).status).toBe(200)
    const seen = gateway.behind.seen.at(-1)
    const since = seen && (await callerOf(seen, 'calendars.get', CALLER_KEY)).inbox?.created_at
    const { body } = await organization.api.get(`/v0/inboxes/${inbox}`)
    expect(since).toBe(body['created_at'])
  })

  it('are refused with 403 while they are closed, all operations with a key, and open again afterwards', async () => {
    await close()
    const answers = await Promise.all([
      organization.api.get(calendar()),
      organization.api.patch(calendar(), { timezone: 'UTC' }),
      organization.api.get(`${calendar()}/agenda`),
      organization.api.post(`${calendar()}/events`, { title: 1 }),
      organization.api.delete(`${calendar()}/events/x`),
      organization.api.post('/v0/calendar/free-busy', { inbox_ids: [inbox] }),
      organization.api.post(`${calendar()}/feed`, {}),
    ])
    for (const { status, body } of answers) {
      expect([status, body['code'], body['name'], body['message']]).toEqual([
        403,
        'forbidden',
        'ForbiddenError',
        REFUSAL,
      ])
    }
    expect((await organization.api.get(`/v0/inboxes/${inbox}`)).status).toBe(200)
    await run('organizations', 'calendar', organization.id, 'on')
    const isOpen = async () => (await organization.api.get(calendar())).status === 200
    await waitFor(isOpen, { what: 'the calendars to be open' })
  })

  it('are refused after the permission is, and before an inbox is looked up', async () => {
    const permissions = { permissions: { calendar_read: true } }
    const reader = String((await organization.api.post('/v0/api-keys', permissions)).body['api_key'])
    await close(gateway.as(reader))
    expect((await gateway.as(reader).get(`${calendar()}/agenda`)).body['code']).toBe('missing_permission')
    expect((await organization.api.get(calendar('nobody@restante.test'))).body['code']).toBe('forbidden')
  })

  it('stay reachable through an address of a feed as far as the gateway knows: its owner is unknown here', async () => {
    await close()
    expect((await gateway.as().get('/v0/calendar-feeds/secret')).status).toBe(200)
  })

  it('are known to be closed wherever a request goes, so that tools for them are not shown', async () => {
    const isClosed = async () => {
      gateway.behind.record()
      await organization.api.get('/v0/threads')
      const [seen = { headers: {} }] = gateway.behind.seen.slice(-1)
      return (await callerOf(seen, 'threads.list', CALLER_KEY)).calendar_access === false
    }
    await waitFor(async () => !(await isClosed()), { what: 'the calendars to be open' })
    await close()
    expect(await isClosed()).toBe(true)
  })

  it('are published with the organization, recorded in the audit log, and shown to the operator', async () => {
    expect(await run('organizations', 'calendar', organization.id, 'off')).toBe(`Calendars of ${organization.id}: off.`)
    expect(await run('organizations', 'calendar', organization.id, 'off')).toContain('off, unchanged')
    expect(await run('organizations', 'show', organization.id)).toMatch(/calendars +off/)
    const shown = JSON.parse(await run('organizations', 'show', organization.id, '--json'))
    expect(shown).toMatchObject({ calendar_access: false })
    const states = (await gateway.events(organization.id)).filter(({ type }) => type === 'organization.changed')
    expect(states.at(-1)?.payload).toMatchObject({ calendar_access: false })
    const [entry] = (await run('audit', '--organization', organization.id, '--json')).split('\n')
    expect(JSON.parse(entry ?? '')).toMatchObject({
      action: 'organization.changed',
      details: { before: { calendar_access: true }, after: { calendar_access: false } },
    })
  })
})
