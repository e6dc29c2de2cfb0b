import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { EXIT } from '../../src/admin/program.ts'
import { startGateway, type TestGateway } from '../gateway.ts'
import { attemptOn } from './stores.ts'

const AT = '2026-11-22T01:46:01.654Z'
const APP = '0b1f6f0e-7a0f-4c0a-9f6a-4a3a7f5d2c11'
const SECRET = '5b1f6f0e-7a0f-4c0a-9f6a-4a3a7f5d2c12'
const SETTINGS = {
  ...{ name: 'Acme Search', description: null, logo_url: null, terms_url: null, privacy_url: null },
  ...{ categories: [], slug: null, listed: false, native: false, redirect_uris: ['https://acme.test/cb'] },
  ...{ initiate_login_uri: null, scopes: ['openid', 'email', 'profile'] },
  ...{ token_endpoint_auth_method: 'client_secret_basic', owner_signup_limit: null },
  ...{ disclosure: null, disclosure_version: 1 },
}
const REGISTERED = {
  ...{ ...SETTINGS, app_id: APP, client_id: APP, secrets: [{ secret_id: SECRET, created_at: AT }] },
  ...{ accounts: 3, created_at: AT, updated_at: AT },
}
const DONE = { outcome: 'done', app: REGISTERED }

describe('the operator’s commands on apps', () => {
  let gateway: TestGateway
  let folder: string

  beforeAll(async () => {
    gateway = await startGateway()
    folder = await mkdtemp(path.join(tmpdir(), 'apps-'))
  })
  afterAll(async () => {
    await gateway.stop()
    await rm(folder, { recursive: true })
  })
  beforeEach(() => {
    gateway.behind.queueCalls.length = 0
    gateway.behind.queueAnswers.length = 0
  })

  /** Runs `apps` with these words. `answer` is typed when a question is asked; undefined: no terminal. */
  const attempt = (words: readonly string[], answer?: string) => attemptOn(gateway, ['apps', ...words], answer)
  const answering = (...answers: Record<string, unknown>[]) => gateway.behind.queueAnswers.push(...answers)
  const calls = () => gateway.behind.queueCalls
  async function fileOf(content: unknown): Promise<string> {
    const file = path.join(folder, `${randomUUID()}.json`)
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
    return file
  }

  it('register an app with what is given, and show its secret once', async () => {
    answering({ ...DONE, client_secret: 'shown once' })
    const words = ['create', '--name', 'Acme Search', '--redirect-uris', 'https://acme.test/cb']
    const { code, printed } = await attempt(words)
    expect(code).toBe(EXIT.done)
    expect(calls()).toEqual([
      { path: 'create', body: { app_id: expect.any(String), settings: SETTINGS, operator: 'tester' } },
    ])
    expect(printed).toMatch(/^app +0b1f6f0e.*\n(.*\n)*client secret +shown once\n/)
  })

  it('take settings from a file, which options replace', async () => {
    answering(DONE)
    const file = await fileOf({ ...SETTINGS, scopes: ['openid', 'owner_email'], listed: true, slug: 'acme' })
    await attempt(['create', '--file', file, '--no-listed', '--slug', 'none', '--sign-up-limit', '5', '--native'])
    expect(calls()[0]?.body).toMatchObject({
      settings: { scopes: ['openid', 'owner_email'], listed: false, slug: null, owner_signup_limit: 5, native: true },
    })
  })

  it('change only the settings that are given, of an app named by its slug', async () => {
    answering({ app: REGISTERED }, DONE, DONE)
    await attempt(['update', 'acme', '--listed', '--terms-url', 'none', '--disclosure-version', '2'])
    const file = await fileOf({ name: 'Acme' })
    expect((await attempt(['update', APP, '--file', file, '--json'])).printed).toContain(`"app_id":"${APP}"`)
    const settings = { listed: true, terms_url: null, disclosure_version: 2 }
    expect(calls()).toEqual([
      { path: 'get', body: { app: 'acme' } },
      { path: 'update', body: { app_id: APP, settings, operator: 'tester' } },
      { path: 'update', body: { app_id: APP, settings: { name: 'Acme' }, operator: 'tester' } },
    ])
  })

  it.each([
    ['no name', ['create'], /^name: /],
    ['a setting that does not exist', { ...SETTINGS, colour: 'red' }, /colour/],
    ['a value that does not fit', { ...SETTINGS, scopes: ['everything'] }, /^scopes\.0: /],
    ['a file without JSON', 'name=Acme', /cannot be read as JSON/],
    ['a file of something else', [], /must be a JSON object/],
    ['nothing to change', ['update', APP], /^Nothing to change/],
  ])('refuse %s, before the owner is asked', async (_what, given, said) => {
    const words =
      Array.isArray(given) && given.length > 0 ? given.map(String) : ['create', '--file', await fileOf(given)]
    expect(await attempt(words)).toMatchObject({ code: EXIT.refused, said: expect.stringMatching(said) })
    expect(calls()).toEqual([])
  })

  it('say what the owner refuses, and that an app is unknown', async () => {
    answering({ outcome: 'refused', refusals: [{ setting: 'redirect_uris', message: 'Must be https' }] })
    const refused = await attempt(['update', APP, '--redirect-uris', 'http://acme.test'])
    expect(refused).toMatchObject({ code: EXIT.refused, said: 'redirect_uris: Must be https' })
    answering({ outcome: 'unknown' }, {}, { removed: false })
    for (const words of [
      ['update', APP, '--listed'],
      ['show', APP],
      ['remove', APP, '--yes'],
    ]) {
      expect(await attempt(words)).toMatchObject({ code: EXIT.refused, said: `App ${APP} was not found.` })
    }
  })

  it('list apps by name, and show one', async () => {
    answering({ apps: Array.from({ length: 200 }, () => REGISTERED) }, { apps: [] }, { app: REGISTERED })
    const { printed } = await attempt(['list', '--limit', '300'])
    expect(printed).toMatch(/^APP .*CREATED\n0b1f6f0e\S+ +Acme Search +- +no +openid email profile +3 +2026-11-22/)
    expect(calls()[1]?.body).toEqual({ limit: 100, after: { name: 'Acme Search', app_id: APP } })
    expect((await attempt(['show', 'Acme'])).printed).toMatch(/\nsecrets +5b1f6f0e\S+ of 2026-11-22 01:46\n/)
  })

  it('add a secret, and end one', async () => {
    answering({ ...DONE, client_secret: 'another' }, DONE)
    expect((await attempt(['secret', APP, '--json'])).printed).toContain('"client_secret":"another"')
    await attempt(['secret', APP, '--remove', SECRET])
    expect(calls().map((call) => call.path)).toEqual(['add-secret', 'remove-secret'])
    expect(calls()[1]?.body).toEqual({ app_id: APP, secret_id: SECRET, operator: 'tester' })
  })

  it('remove an app when its name is typed', async () => {
    answering({ app: REGISTERED }, { app: REGISTERED }, { removed: true })
    expect((await attempt(['remove', APP], 'Other')).code).toBe(EXIT.refused)
    expect((await attempt(['remove', APP], 'Acme Search')).printed).toBe(`Removed ${APP}.`)
  })

  it('show and set the limits of single organizations, with an entry in the audit log', async () => {
    const { id } = await gateway.organization()
    const limits = [{ organization_id: id, limit: 2, used: 1 }]
    answering({ limits }, { found: true }, { limits }, { found: false })
    expect((await attempt(['limits', APP])).printed).toMatch(/^ORGANIZATION +LIMIT +USED\n\S+ +2 +1$/)
    await attempt(['limits', APP, '--organization', id, '--limit', '2'])
    const refused = await attempt(['limits', APP, '--organization', id, '--limit', 'none'])
    expect(refused).toMatchObject({ code: EXIT.refused, said: expect.stringContaining('was not found') })
    expect(
      calls()
        .filter((call) => call.path === 'set-limit')
        .map((call) => call.body['limit']),
    ).toEqual([2, null])
    const where = { organizationId: id, action: 'sign_up_limit.changed' }
    expect(await gateway.db.orm.auditEntry.findMany({ where, select: { details: true } })).toEqual([
      { details: { after: { app_id: APP, sign_up_limit: 2 } } },
    ])
    expect((await attempt(['limits', APP, '--organization', id])).code).toBe(EXIT.refused)
  })
})
