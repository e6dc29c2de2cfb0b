import { randomUUID } from 'node:crypto'
import type { AppSettings } from '@restante/contracts/internal'
import { findClient } from '../../src/apps/find.ts'
import { verifySecret } from '../../src/apps/secrets.ts'
import { type AppsSigninFixture, appSettings, startAppsSignin, type TestApp } from '../support/fixture.ts'

let fixture: AppsSigninFixture

beforeAll(async () => {
  fixture = await startAppsSignin()
})
afterAll(() => fixture.stop())

const create = (settings: AppSettings, app_id: string = randomUUID()) =>
  fixture.internal('apps-signin.createApp', { app_id, settings, operator: 'tester' })
const update = (app_id: string, settings: Partial<AppSettings>) =>
  fixture.internal('apps-signin.updateApp', { app_id, settings, operator: 'tester' })
const get = (app: string) => fixture.internal('apps-signin.getApp', { app })

describe('apps-signin.createApp', () => {
  it('answers the secret once, and stores only what verifies it', async () => {
    const settings = appSettings()
    const id = randomUUID()
    const { body } = await create(settings, id)
    expect(body).toEqual({
      outcome: 'done',
      app: {
        ...settings,
        app_id: id,
        client_id: id,
        secrets: [{ secret_id: expect.any(String), created_at: expect.any(String) }],
        accounts: 0,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
      client_secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    })
    expect(await verifySecret(fixture.db, id, String(body['client_secret']))).toBe(true)
    expect(await verifySecret(fixture.db, id, 'another')).toBe(false)
  })

  it('has one effect when it is repeated: the same secret stays, and is not answered again', async () => {
    const settings = appSettings()
    const id = randomUUID()
    const [first, second] = await Promise.all([create(settings, id), create(settings, id)])
    const secrets = [first.body['client_secret'], second.body['client_secret']].filter(Boolean)
    expect(secrets).toHaveLength(1)
    expect(second.body['app']).toEqual(first.body['app'])
    expect(await verifySecret(fixture.db, id, String(secrets[0]))).toBe(true)
  })

  it('refuses other settings under an id that is registered, and an id that was removed', async () => {
    const app = await fixture.app()
    expect((await create(appSettings(), app.app_id)).body).toMatchObject({
      outcome: 'refused',
      refusals: [{ setting: 'app_id' }],
    })
    await fixture.internal('apps-signin.removeApp', { app_id: app.app_id, operator: 'tester' })
    expect((await create(appSettings(), app.app_id)).body).toMatchObject({ refusals: [{ setting: 'app_id' }] })
  })

  it('gives no secret to an app that authenticates without one', async () => {
    const { body } = await create(appSettings({ token_endpoint_auth_method: 'none' }))
    expect(body).toMatchObject({ outcome: 'done', app: { secrets: [] } })
    expect(body).not.toHaveProperty('client_secret')
  })

  it.each<[keyof AppSettings, string, Partial<AppSettings>]>([
    ['redirect_uris', 'http on the network', { redirect_uris: ['http://app.example/cb'] }],
    ['redirect_uris', 'loopback of an app that is not native', { redirect_uris: ['http://127.0.0.1/cb'] }],
    ['redirect_uris', 'one URI twice', { redirect_uris: ['https://a.example/', 'https://a.example/'] }],
    ['initiate_login_uri', 'a fragment', { initiate_login_uri: 'https://a.example/#x' }],
    ['slug', 'the name of the search', { slug: 'search' }],
    ['slug', 'the same with a hyphen', { slug: 'sea-rch' }],
    ['slug', 'the form of an id', { slug: randomUUID() }],
    ['slug', 'none in the catalog', { slug: null, listed: true }],
    ['scopes', 'no openid', { scopes: ['email'] }],
    ['categories', 'one category twice', { categories: ['ai', 'ai'] }],
  ])('refuses at %s %s', async (setting, _what, settings) => {
    expect((await create(appSettings(settings))).body).toMatchObject({ outcome: 'refused', refusals: [{ setting }] })
  })

  it('refuses a slug that another app has or had, however it is hyphenated', async () => {
    const slug = `a-${randomUUID().slice(0, 8)}-z`
    const { app_id } = await fixture.app({ slug })
    const same = appSettings({ slug: slug.replaceAll('-', '') })
    expect((await create(same)).body).toMatchObject({ refusals: [{ setting: 'slug' }] })
    await fixture.internal('apps-signin.removeApp', { app_id, operator: 'tester' })
    expect((await create(same)).body).toMatchObject({ refusals: [{ setting: 'slug' }] })
  })

  it('stores one of two apps that are given one slug at once', async () => {
    const slug = `twice-${randomUUID().slice(0, 8)}`
    const answers = await Promise.all([create(appSettings({ slug })), create(appSettings({ slug }))])
    expect(answers.map(({ body }) => body['outcome']).sort()).toEqual(['done', 'refused'])
  })
})

describe('apps-signin.updateApp', () => {
  it('changes what is given and leaves the rest', async () => {
    const app = await fixture.app({ slug: null, listed: false })
    const slug = `late-${randomUUID().slice(0, 8)}`
    const { body } = await update(app.app_id, { description: 'Books of all ages', slug, listed: true })
    expect(body).toMatchObject({
      outcome: 'done',
      app: { ...settingsOf(app), description: 'Books of all ages', slug, listed: true },
    })
    expect(body).not.toHaveProperty('client_secret')
  })

  it('refuses another slug, and another disclosure without a higher version', async () => {
    const app = await fixture.app({ disclosure: 'Shares it all', disclosure_version: 3 })
    expect((await update(app.app_id, { slug: null })).body).toMatchObject({ refusals: [{ setting: 'slug' }] })
    expect((await update(app.app_id, { slug: 'other-slug' })).body).toMatchObject({ refusals: [{ setting: 'slug' }] })
    const silent = await update(app.app_id, { disclosure: 'Shares more' })
    expect(silent.body).toMatchObject({ refusals: [{ setting: 'disclosure_version' }] })
    const smaller = await update(app.app_id, { disclosure_version: 2 })
    expect(smaller.body).toMatchObject({ refusals: [{ setting: 'disclosure_version' }] })
  })

  it('knows no app that is not registered', async () => {
    expect((await update(randomUUID(), { listed: false })).body).toEqual({ outcome: 'unknown' })
  })
})

describe('secrets of an app', () => {
  const add = (app_id: string) => fixture.internal('apps-signin.addSecret', { app_id, operator: 'tester' })

  it('are valid two at a time: another one ends the older of two', async () => {
    const { app_id, client_secret: first } = await fixture.app()
    const second = String((await add(app_id)).body['client_secret'])
    expect(await valid(app_id, first, second)).toEqual([true, true])
    const third = await add(app_id)
    expect(third.body).toMatchObject({ app: { secrets: [{}, {}] } })
    expect(await valid(app_id, first, second, String(third.body['client_secret']))).toEqual([false, true, true])
  })

  it('end one by one, and a repetition is no error', async () => {
    const { app_id, client_secret, secrets } = await fixture.app()
    const body = { app_id, secret_id: secrets[0]?.secret_id, operator: 'tester' }
    expect((await fixture.internal('apps-signin.removeSecret', body)).body).toMatchObject({ app: { secrets: [] } })
    expect((await fixture.internal('apps-signin.removeSecret', body)).body).toMatchObject({ outcome: 'done' })
    expect(await valid(app_id, client_secret)).toEqual([false])
  })

  it('are refused to an app that authenticates without one', async () => {
    const { app_id } = await fixture.app({ token_endpoint_auth_method: 'none' })
    expect((await add(app_id)).body).toMatchObject({ refusals: [{ setting: 'token_endpoint_auth_method' }] })
  })

  function valid(id: string, ...secrets: readonly string[]): Promise<boolean[]> {
    return Promise.all(secrets.map((secret) => verifySecret(fixture.db, id, secret)))
  }
})

describe('a removed app', () => {
  it('is no client any more, and neither listed nor found', async () => {
    const app = await fixture.app()
    const remove = () => fixture.internal('apps-signin.removeApp', { app_id: app.app_id, operator: 'tester' })
    expect((await remove()).body).toEqual({ removed: true })
    expect((await remove()).body).toEqual({ removed: false })
    expect((await get(app.app_id)).body).toEqual({})
    expect(await findClient(fixture.db, app.client_id, { open: true })).toBeUndefined()
    expect(await verifySecret(fixture.db, app.app_id, app.client_secret)).toBe(false)
    const { body } = await fixture.internal('apps-signin.listApps', { limit: 1_000 })
    expect(JSON.stringify(body)).not.toContain(app.app_id)
  })
})

describe('apps-signin.listApps and getApp', () => {
  it('pages by name, and finds by id and by slug', async () => {
    const prefix = `zz ${randomUUID()}`
    const made = [await fixture.app({ name: `${prefix} b` }), await fixture.app({ name: `${prefix} a` })]
    const first = await fixture.internal('apps-signin.listApps', {
      limit: 1,
      after: { name: prefix, app_id: randomUUID() },
    })
    expect(first.body).toMatchObject({ apps: [{ app_id: made[1]?.app_id }] })
    const second = await fixture.internal('apps-signin.listApps', {
      limit: 1,
      after: { name: `${prefix} a`, app_id: made[1]?.app_id },
    })
    expect(second.body).toMatchObject({ apps: [{ app_id: made[0]?.app_id }] })
    for (const named of [made[0]?.app_id, made[0]?.slug]) {
      expect((await get(String(named))).body).toMatchObject({ app: { app_id: made[0]?.app_id } })
    }
    expect((await get(randomUUID())).body).toEqual({})
  })
})

describe('limits of single organizations', () => {
  it('are set, listed with their use, and taken back', async () => {
    const { app_id } = await fixture.app()
    const organization_id = randomUUID()
    const set = (limit: number | null) =>
      fixture.internal('apps-signin.setSignUpLimit', { app_id, organization_id, limit, operator: 'tester' })
    const list = () => fixture.internal('apps-signin.listSignUpLimits', { app_id, limit: 10 })
    expect((await set(3)).body).toEqual({ found: true })
    expect((await set(2)).body).toEqual({ found: true })
    expect((await list()).body).toEqual({ limits: [{ organization_id, limit: 2, used: 0 }] })
    await set(null)
    expect((await list()).body).toEqual({ limits: [] })
    const nowhere = { app_id: randomUUID(), organization_id, limit: 1, operator: 'tester' }
    expect((await fixture.internal('apps-signin.setSignUpLimit', nowhere)).body).toEqual({ found: false })
  })
})

function settingsOf(app: TestApp): Partial<AppSettings> {
  const names = new Set(Object.keys(appSettings()))
  return Object.fromEntries(Object.entries(app).filter(([name]) => names.has(name)))
}
