import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from '@restante/service/database'
import { serviceCommand } from '@restante/service/process'
import { EXIT } from '../../src/admin/program.ts'
import { attemptOn } from '../admin/stores.ts'
import { startGateway, type TestGateway } from '../gateway.ts'

const PROGRAM = path.resolve(import.meta.dirname, '../../src/admin/main.ts')
const copies = sql<never, [organizationId: string, count: number]>(`
insert into credentials (id, organization_id, tier, secret_hash, prefix, name, created_at, updated_at)
select gen_random_uuid(), $1, 'organization', sha256(('copy ' || number)::bytea), 'am_us_copy', 'copy ' || number, now(), now()
  from generate_series(1, $2) as number`)

describe('the operator’s command line', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  /** Runs a command. `answer` is typed when a question is asked; undefined: no terminal. */
  const attempt = (words: readonly string[], answer?: string) => attemptOn(gateway, words, answer)

  async function run(...words: string[]): Promise<string> {
    const { code, printed, said } = await attempt(words)
    if (code !== EXIT.done) throw new Error(`exit ${code}: ${said}`)
    return printed
  }
  const documents = async (...words: string[]): Promise<Record<string, unknown>[]> =>
    (await run(...words, '--json')).split('\n').map((line) => JSON.parse(line))

  const idIn = (text: string) => /[0-9a-f-]{36}/.exec(text)?.[0] ?? ''
  const keyIn = (text: string) => /am_us_[0-9a-f]{64}/.exec(text)?.[0] ?? ''

  describe('organizations', () => {
    it('creates the first organization once, also when called concurrently', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => run('organizations', 'first', '--json')))
      const made = answers.map((text) => JSON.parse(text))
      const [first, ...more] = made.filter((document) => 'api_key' in document)
      expect([more, made]).toEqual([[], expect.arrayContaining([{}, {}])])
      expect((await gateway.as(first.api_key).get('/v0/auth/me')).body['organization_id']).toBe(first.organization_id)
      expect(await run('organizations', 'first')).toBe('An organization exists already.')
    })

    it('creates an organization with limits, whose key may grant app_connect', async () => {
      const text = await run('organizations', 'create', '--inboxes', '2', '--keys', '2')
      const api = gateway.as(keyIn(text))
      expect((await api.get('/v0/organizations')).body).toMatchObject({ organization_id: idIn(text), inbox_limit: 2 })
      expect((await api.post('/v0/api-keys', { permissions: { app_connect: true } })).status).toBe(200)
      expect((await api.post('/v0/api-keys')).body).toMatchObject({ code: 'limit_exceeded', limit: 2 })
      expect(await run('organizations', 'list')).toContain(idIn(text))
    })

    it('lists organizations by state, and shows one with its counts', async () => {
      const { id, api } = await gateway.organization({ inboxes: 4 })
      await api.post('/v0/inboxes')
      await run('organizations', 'suspend', id)
      const [only] = await documents('organizations', 'list', '--status', 'suspended')
      expect(only).toMatchObject({ organization_id: id, status: 'suspended', inbox_count: 1, inbox_limit: 4 })
      expect(only).not.toHaveProperty('human_email')
      const [shown] = await documents('organizations', 'show', id)
      expect(shown).toMatchObject({ organization_id: id, pod_count: 1, api_key_count: 1 })
      expect(await run('organizations', 'show', id)).toMatch(/status +suspended\nkind +operator\n/)
    })

    it('suspends and resumes, and reports when nothing changed', async () => {
      const { id } = await gateway.organization()
      expect(await run('organizations', 'suspend', id)).toContain('Suspended')
      expect(await run('organizations', 'suspend', id)).toContain('already')
      expect(await run('organizations', 'list')).toMatch(new RegExp(`${id} +suspended`))
      expect(await run('organizations', 'resume', id)).toContain('Resumed')
      const states = (await gateway.events(id)).filter(({ type }) => type === 'organization.changed')
      expect(states.map(({ payload }) => payload['status'])).toEqual(['active', 'suspended', 'active'])
    })

    it('shows limits and changes the given ones, effective for the next request', async () => {
      const { id, api } = await gateway.organization({ inboxes: 1 })
      await api.post('/v0/inboxes')
      expect((await api.post('/v0/inboxes')).body['code']).toBe('limit_exceeded')
      expect(await documents('organizations', 'limits', id, '--inboxes', 'none', '--keys', '1')).toEqual([
        { api_key_limit: 1 },
      ])
      expect((await api.post('/v0/inboxes')).status).toBe(200)
      expect((await api.post('/v0/api-keys')).body['code']).toBe('limit_exceeded')
      expect(await run('organizations', 'limits', id, '--domains', '0')).toBe(
        'inbox limit   none\ndomain limit  0\nkey limit     1',
      )
      await run('organizations', 'limits', id, '--keys', 'none')
      expect((await api.post('/v0/api-keys')).status).toBe(200)
    })

    it('sets the human of an organization, whose sign-ups are refused until the human is removed', async () => {
      const human = 'owner@people.test'
      const id = idIn(await run('organizations', 'create', '--human', human.toUpperCase()))
      const signUp = () => gateway.as().post('/v0/agent/sign-up', { username: 'owned-agent', human_email: human })
      expect((await signUp()).body['code']).toBe('already_exists')
      await expect(run('organizations', 'create', '--human', human)).rejects.toThrow(`organization ${id} already`)
      expect(await run('organizations', 'human', id, 'none')).toContain('not set')
      const signedUp = await signUp()
      expect(signedUp.status).toBe(200)
      await expect(run('organizations', 'human', id, human)).rejects.toThrow('already')
      const agents = String(signedUp.body['organization_id'])
      await expect(run('organizations', 'human', agents, 'none')).rejects.toThrow('POST /v0/agent/human')
    })
  })

  describe('keys', () => {
    it('makes, lists and revokes keys of every tier', async () => {
      const { id, api } = await gateway.organization()
      await api.post('/v0/inboxes', { username: 'admin-made' })
      const bound = ['--inbox', 'admin-made@restante.test', '--name', 'Robot']
      const inbox = await run('keys', 'create', id, ...bound, '--permissions', 'inbox_read, message_read')
      await run('keys', 'create', id, '--pod', id, '--expires', '2099-01-01T00:00:00Z')
      expect((await gateway.as(keyIn(inbox)).get('/v0/auth/me')).body['scope_type']).toBe('inbox')
      const list = await run('keys', 'list', id)
      expect(list).toMatch(/Robot +admin-made@restante\.test +2 granted/)
      expect(list).toMatch(new RegExp(`pod ${id} +unrestricted +- +2099-01-01 00:00`))
      expect(list).not.toContain(keyIn(inbox))
      expect(await run('keys', 'revoke', idIn(inbox))).toContain('Revoked')
      await expect(run('keys', 'revoke', idIn(inbox))).rejects.toThrow('was not found')
    })

    it('prints documents for scripts, with the secret only for a new key', async () => {
      const { id } = await gateway.organization()
      const [made] = await documents('keys', 'create', id, '--permissions', 'app_connect,inbox_read')
      const permissions = ['app_connect', 'inbox_read']
      expect(made).toMatchObject({ organization_id: id, tier: 'organization', permissions, app_connect: true })
      expect((await gateway.as(String(made?.['api_key'])).get('/v0/auth/me')).status).toBe(200)
      const listed = await documents('keys', 'list', id)
      expect(listed.map((key) => key['api_key_id'])).toContain(made?.['api_key_id'])
      expect(JSON.stringify(listed)).not.toContain(String(made?.['api_key']))
    })

    it('lists all keys, however many there are', async () => {
      const { id } = await gateway.organization()
      await gateway.db.query(copies, id, 1200)
      expect(await documents('keys', 'list', id)).toHaveLength(1201)
      expect((await run('keys', 'list', id)).split('\n').filter((line) => line.startsWith('KEY '))).toHaveLength(1)
    })

    it('refuses unknown permissions, times, pods and inboxes, and keys beyond the limit', async () => {
      const { id } = await gateway.organization()
      await expect(run('keys', 'create', id, '--permissions', 'everything')).rejects.toThrow(
        'Unknown permission everything',
      )
      await expect(run('keys', 'create', id, '--expires', 'soon')).rejects.toThrow('--expires')
      await expect(run('keys', 'create', id, '--expires', '2020-01-01T00:00:00Z')).rejects.toThrow('future')
      await expect(run('keys', 'create', id, '--pod', 'none')).rejects.toThrow('no pod')
      await expect(run('keys', 'create', id, '--inbox', 'none@restante.test')).rejects.toThrow('no inbox')
      await run('organizations', 'limits', id, '--keys', '1')
      await expect(run('keys', 'create', id)).rejects.toThrow('API key limit exceeded')
    })
  })

  describe('audit', () => {
    it('lists the changes of an organization, newest first', async () => {
      const { id } = await gateway.organization()
      await run('organizations', 'suspend', id)
      const actions = (rows: Record<string, unknown>[]) => rows.map((row) => row['action'])
      const all = await documents('audit', '--organization', id)
      expect(actions(all)).toEqual(['organization.changed', 'credential.created', 'organization.created'])
      expect(all[0]).toMatchObject({
        actor: { kind: 'operator', id: 'tester' },
        details: { before: { status: 'active' }, after: { status: 'suspended' } },
      })
      expect(actions(await documents('audit', '--organization', id, '--limit', '1'))).toEqual(['organization.changed'])
      expect(actions(await documents('audit', '--organization', id, '--since', '1h'))).toHaveLength(3)
      expect(await run('audit', '--organization', id, '--since', '2099-01-01T00:00:00Z')).toBe('No entries.')
      expect(await run('audit', '--organization', id)).toMatch(
        /organization\.changed +operator tester .*status active > suspended/,
      )
    })
  })

  describe('exit codes', () => {
    it.each([
      [['organizations', 'destroy'], EXIT.misused, "unknown command 'destroy'"],
      [['organizations', 'suspend'], EXIT.misused, "missing required argument 'organization'"],
      [['organizations', 'suspend', 'x'], EXIT.refused, 'not an id'],
      [['organizations', 'suspend', '3f0c3f5e-0000-4000-8000-000000000000'], EXIT.refused, 'was not found'],
      [['organizations', 'delete', '3f0c3f5e-0000-4000-8000-000000000000', '--yes'], EXIT.refused, 'was not found'],
      [['organizations', 'create', '--inboxes', 'many'], EXIT.misused, 'whole number'],
      [['organizations', 'create', '--human', 'nobody'], EXIT.misused, 'one e-mail address'],
      [['organizations', 'create', '--colour', 'red'], EXIT.misused, "unknown option '--colour'"],
      [['organizations', 'list', '--status', 'happy'], EXIT.misused, 'Allowed choices'],
      [['keys', 'list', '3f0c3f5e-0000-4000-8000-000000000000'], EXIT.refused, 'was not found'],
      [['audit', '--since', 'lately'], EXIT.misused, 'date and time'],
      [['audit', '--since', '12'], EXIT.misused, 'date and time'],
      [['keys', 'create', 'x', '--expires', '2099-02-30T00:00:00Z'], EXIT.misused, 'date and time'],
      [['keys', 'create', 'x', '--expires', '2099-02-01T00:00:00'], EXIT.misused, 'with a zone'],
      [['keys', 'create', 'x', '--name', ' '], EXIT.misused, 'at least 1 character'],
      [['keys', 'create', 'x', '--name', 'a\nb'], EXIT.misused, 'line breaks'],
      [['keys', 'create', 'x', '--name', 'n'.repeat(257)], EXIT.misused, 'at most 256 characters'],
      [['keys', 'create', 'x', '--pod', 'p', '--inbox', 'i'], EXIT.misused, 'cannot be used with'],
    ])('%j exits with %i', async (words, code, message) => {
      const result = await attempt(words)
      expect(result).toMatchObject({ code, printed: '' })
      expect(result.said).toContain(message)
    })

    it.each([[['--help']], [['organizations', '--help']], [['help', 'keys']], [['audit', '-h']]])(
      '%j prints help and ends with 0',
      async (words) => {
        const { code, printed } = await attempt(words)
        expect(code).toBe(EXIT.done)
        expect(printed).toContain('Usage: npm run admin --')
      },
    )
  })

  describe('the admin program', () => {
    const [program, ...args] = serviceCommand(PROGRAM)
    const start = (env: Readonly<Record<string, string>>, ...words: string[]) =>
      promisify(execFile)(program, [...args, ...words], { env: { PATH: process.env['PATH'], ...env } })

    it('reads the gateway’s own environment, and needs none for help', async () => {
      expect((await start(gateway.env, 'organizations', 'list')).stdout).toContain('ORGANIZATION')
      expect((await start({}, '--help')).stdout).toContain('Usage')
      await expect(start({}, 'organizations', 'list')).rejects.toMatchObject({
        code: EXIT.refused,
        stderr: expect.stringContaining('INSTALLATION_SECRET is missing'),
      })
    })

    it('reports in one line that the database is down', async () => {
      const away = { ...gateway.env, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }
      const failure = expect.objectContaining({
        code: EXIT.refused,
        stderr: expect.stringMatching(/^The database cannot be reached: .*\n$/),
      })
      await expect(start(away, 'organizations', 'list')).rejects.toEqual(failure)
    })

    it.each([
      ['does not exist', 'no_such_database', ['organizations', 'list']],
      ['does not exist, for a change', 'no_such_database', ['organizations', 'create']],
      ['is not migrated', 'postgres', ['organizations', 'list']],
      ['is not migrated, for a change', 'postgres', ['organizations', 'create']],
    ])('reports in one line that the database %s', async (_case, database, words) => {
      // A pooler in between would answer about such a database itself.
      const url = new URL(gateway.env['DATABASE_DIRECT_URL'] ?? gateway.env['DATABASE_URL'] ?? '')
      url.pathname = database
      const failure = expect.objectContaining({
        code: EXIT.refused,
        stderr: expect.stringMatching(/^The database is not that of a gateway, or lacks its migrations: .*\n$/),
      })
      await expect(start({ ...gateway.env, DATABASE_URL: url.href }, ...words)).rejects.toEqual(failure)
    })
  })
})
