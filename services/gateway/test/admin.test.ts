import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { execute, USAGE } from '../src/admin/commands.ts'
import { startGateway, type TestGateway } from './gateway.ts'

describe('the operator’s command line', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  const run = (...words: string[]) => execute(gateway.operator, words)
  const idIn = (text: string) => /[0-9a-f-]{36}/.exec(text)?.[0] ?? ''
  const keyIn = (text: string) => /am_us_[0-9a-f]{64}/.exec(text)?.[0] ?? ''

  it('makes the first organization once, however many ask at once', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => run('organizations', 'first', '--json')))
    const documents = answers.map((text) => JSON.parse(text))
    const [made, ...more] = documents.filter((document) => 'api_key' in document)
    expect([more, documents]).toEqual([[], expect.arrayContaining([{}, {}])])
    expect((await gateway.as(made.api_key).get('/v0/auth/me')).body['organization_id']).toBe(made.organization_id)
    expect(await run('organizations', 'first')).toBe('There is an organization already.')
  })

  it('makes an organization with limits, whose key may grant app_connect', async () => {
    const text = await run('organizations', 'create', '--inboxes', '2')
    const api = gateway.as(keyIn(text))
    expect((await api.get('/v0/organizations')).body).toMatchObject({ organization_id: idIn(text), inbox_limit: 2 })
    expect((await api.post('/v0/api-keys', { permissions: { app_connect: true } })).status).toBe(200)
    expect(await run('organizations', 'list')).toContain(idIn(text))
  })

  it('suspends and resumes, and says when there was nothing to do', async () => {
    const { id } = await gateway.organization()
    expect(await run('organizations', 'suspend', id)).toContain('Suspended')
    expect(await run('organizations', 'suspend', id)).toContain('already')
    expect(await run('organizations', 'list')).toMatch(new RegExp(`${id} +suspended`))
    expect(await run('organizations', 'resume', id)).toContain('Resumed')
    const states = (await gateway.events(id)).filter(({ type }) => type === 'organization.changed')
    expect(states.map(({ payload }) => payload['status'])).toEqual(['active', 'suspended', 'active'])
  })

  it('makes, lists and revokes keys of every tier', async () => {
    const { id, api } = await gateway.organization()
    await api.post('/v0/inboxes', { username: 'admin-made' })
    const inbox = await run(
      'keys',
      'create',
      id,
      '--inbox',
      'admin-made@restante.test',
      '--name',
      'Robot',
      '--permissions',
      'inbox_read, message_read',
    )
    await run('keys', 'create', id, '--pod', id, '--expires', '2099-01-01T00:00:00Z')
    expect((await gateway.as(keyIn(inbox)).get('/v0/auth/me')).body['scope_type']).toBe('inbox')
    const list = await run('keys', 'list', id)
    expect(list).toMatch(/Robot +admin-made@restante\.test +2 granted/)
    expect(list).toMatch(new RegExp(`pod ${id} +unrestricted +- +2099-01-01 00:00`))
    expect(list).not.toContain(keyIn(inbox))
    expect(await run('keys', 'revoke', idIn(inbox))).toContain('Revoked')
    await expect(run('keys', 'revoke', idIn(inbox))).rejects.toThrow('There is no key')
  })

  it.each([
    [[], USAGE],
    [['organizations', 'destroy'], USAGE],
    [['organizations', 'suspend'], USAGE],
    [['organizations', 'suspend', 'x'], 'not an id'],
    [['organizations', 'suspend', '3f0c3f5e-0000-4000-8000-000000000000'], 'There is no organization'],
    [['organizations', 'create', '--inboxes', 'many'], 'whole number'],
    [['organizations', 'create', '--colour', 'red'], '--colour'],
  ])('says what is wrong with %j', async (words, expected) => {
    await expect(run(...words)).rejects.toThrow(expected)
  })

  it('refuses permissions, times, pods and inboxes that are none', async () => {
    const { id } = await gateway.organization()
    await expect(run('keys', 'create', id, '--permissions', 'everything')).rejects.toThrow('no permission everything')
    await expect(run('keys', 'create', id, '--expires', 'soon')).rejects.toThrow('--expires')
    await expect(run('keys', 'create', id, '--expires', '2020-01-01T00:00:00Z')).rejects.toThrow('future')
    await expect(run('keys', 'create', id, '--pod', 'none')).rejects.toThrow('no pod')
    await expect(run('keys', 'create', id, '--inbox', 'none@restante.test')).rejects.toThrow('no inbox')
  })

  it('runs as a program, with the gateway’s own environment', async () => {
    const program = path.resolve(import.meta.dirname, '../src/admin/main.ts')
    const start = (env: NodeJS.ProcessEnv, ...words: string[]) =>
      promisify(execFile)(process.execPath, [program, ...words], { env: { PATH: process.env['PATH'], ...env } })
    const { stdout } = await start(gateway.env, 'organizations', 'list')
    expect(stdout).toContain('ORGANIZATION')
    await expect(start({}, 'organizations', 'list')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('INSTALLATION_SECRET is missing'),
    })
  })
})
