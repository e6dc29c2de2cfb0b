import { randomUUID } from 'node:crypto'
import { app as appSchema } from '@restante/contracts/resources'
import { callerOf, countRows, queryRows } from '@restante/testkit'
import { rankApps } from '../../src/catalog/ranks.ts'
import { type AppsSigninFixture, startAppsSignin } from '../support/fixture.ts'
import { signIn } from '../support/sign-ins.ts'
import { makeTenant } from '../support/tenant.ts'

let fixture: AppsSigninFixture
const caller = callerOf()

beforeAll(async () => {
  fixture = await startAppsSignin()
})
afterAll(() => fixture.stop())

/** Computes the order again, as an hour later. */
async function rank(): Promise<void> {
  await queryRows(fixture.db, "update rank_snapshots set created_at = created_at - interval '2 hours'")
  expect(await rankApps(fixture.db)).toBe(true)
}

async function list(query = '') {
  const { status, body } = await fixture.call('apps.list', caller, { query })
  const ids = appSchema
    .array()
    .parse(body['apps'] ?? [])
    .map(({ app_id }) => app_id)
  return { status, body, ids, token: encodeURIComponent(String(body['next_page_token'])) }
}

async function search(q: string, query = '') {
  const { body } = await fixture.call('apps.search', caller, { query: `?q=${encodeURIComponent(q)}${query}` })
  return appSchema
    .array()
    .parse(body['apps'])
    .map(({ name }) => name)
}

const get = (app_id: string) => fixture.call('apps.get', caller, { params: { app_id } })

describe('apps.list', () => {
  it('shows the apps with the most accounts first, ties by id, and those listed since then last', async () => {
    const apps = [await fixture.app(), await fixture.app(), await fixture.app()]
    const tenant = makeTenant(fixture)
    const popular = apps[2]
    for (const inbox of [tenant.inbox(), tenant.inbox()]) await signIn(fixture, String(popular?.client_id), inbox)
    await rank()
    const late = await fixture.app()
    const ties = [apps[0], apps[1]].map((app) => String(app?.app_id)).sort()
    expect((await list()).ids).toEqual([popular?.app_id, ...ties, late.app_id])
  })

  it('goes on in the order in which it began, whatever happens to popularity', async () => {
    const before = (await list()).ids
    const first = await list('?limit=1')
    const last = String(before.at(-1))
    const tenant = makeTenant(fixture)
    for (const inbox of [tenant.inbox(), tenant.inbox(), tenant.inbox()]) await signIn(fixture, last, inbox)
    await rank()
    expect((await list()).ids[0]).toBe(last)
    const walked = [...first.ids]
    for (let page = first; page.body['next_page_token'] !== undefined; ) {
      page = await list(`?limit=1&page_token=${page.token}`)
      walked.push(...page.ids)
    }
    expect(walked).toEqual(before)
  })

  it('shows the catalog only: neither unlisted nor removed apps, nor open clients', async () => {
    const [unlisted, removed] = [await fixture.app({ listed: false }), await fixture.app()]
    await rank()
    await fixture.internal('apps-signin.removeApp', { app_id: removed.app_id, operator: 'tester' })
    const open = await signIn(fixture, 'https://open.example/', makeTenant(fixture).inbox())
    const { ids } = await list('?limit=100')
    for (const id of [unlisted.app_id, removed.app_id, open.app_id]) expect(ids).not.toContain(id)
  })

  it('filters by category, and binds its tokens to it', async () => {
    const made = [
      await fixture.app({ categories: ['payments', 'finance'] }),
      await fixture.app({ categories: ['payments'] }),
    ]
    expect((await list('?category=payments')).ids.sort()).toEqual(made.map(({ app_id }) => app_id).sort())
    const { token } = await list('?category=payments&limit=1')
    expect((await list(`?category=payments&limit=1&page_token=${token}`)).status).toBe(200)
    const { token: ofAll } = await list('?limit=1')
    for (const query of [
      `?page_token=${token}`,
      `?category=finance&page_token=${token}`,
      `?category=payments&page_token=${ofAll}`,
    ]) {
      expect(await list(query)).toMatchObject({
        status: 400,
        body: { code: 'validation_error', errors: [{ path: ['page_token'] }] },
      })
    }
    expect(await list('?category=weapons')).toMatchObject({ status: 400, body: { errors: [{ path: ['category'] }] } })
  })

  it('refuses a token that was altered, and one whose order is gone', async () => {
    const { token } = await list('?limit=1')
    const altered = `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`
    expect((await list(`?page_token=${altered}`)).status).toBe(400)
    await queryRows(fixture.db, 'delete from rank_snapshots')
    expect(await list(`?page_token=${token}`)).toMatchObject({
      status: 400,
      body: { errors: [{ path: ['page_token'] }] },
    })
    expect((await list()).status).toBe(200)
  })

  it('echoes a limit of 50 unless one is given, and reduces one above 100 unless it filters', async () => {
    expect((await list()).body).toMatchObject({ limit: 50 })
    expect((await list('?limit=101')).body).toMatchObject({ limit: 100 })
    for (const query of ['?limit=0', '?limit=-1', '?category=ai&limit=101']) {
      expect(await list(query)).toMatchObject({ status: 400, body: { errors: [{ path: ['limit'] }] } })
    }
  })
})

describe('apps.search', () => {
  it('finds by the beginning of a name or of a word of it, in any case: exact names first, then the popular', async () => {
    const mark = randomUUID().slice(0, 8)
    const name = (text: string) => `${mark}${text}`
    await fixture.app({ name: name('shelf Books') })
    const popular = await fixture.app({ name: name('shelfmark') })
    await fixture.app({ name: name('Shelf') })
    await fixture.app({ name: `The (${name('Shelf')}) house` })
    await fixture.app({ name: `x${name('Shelf')}` })
    await fixture.app({ name: name('shelf hidden'), listed: false })
    await signIn(fixture, popular.client_id, makeTenant(fixture).inbox())
    await rank()
    const found = await search(`  ${name('SHELF')} `)
    expect(found.slice(0, 2)).toEqual([name('Shelf'), name('shelfmark')])
    expect(found.slice(2).sort()).toEqual([name('shelf Books'), `The (${name('Shelf')}) house`].sort())
    expect(await search(`${name('shelf')} bo`)).toEqual([name('shelf Books')])
    expect(await search('helf')).toEqual([])
  })

  it('ignores blanks and punctuation within a name, and finds nothing for punctuation alone', async () => {
    const mark = randomUUID().slice(0, 8)
    await fixture.app({ name: `Open${mark}-Table` })
    for (const q of [`open${mark}table`, `Open${mark} table`, `open ${mark}`, `OPEN.${mark}.T`]) {
      expect([q, await search(q)]).toEqual([q, [`Open${mark}-Table`]])
    }
    expect(await search('!!')).toEqual([])
    expect(await search('%')).toEqual([])
  })

  it('answers count and limit without a token, and refuses a limit above 100 and a missing or empty text', async () => {
    const answer = await fixture.call('apps.search', caller, { query: '?q=zzzz' })
    expect(answer.body).toEqual({ count: 0, limit: 50, apps: [] })
    for (const [query, at] of [
      ['', 'q'],
      ['?q=', 'q'],
      ['?q=%20%20', 'q'],
      [`?q=${'a'.repeat(101)}`, 'q'],
      ['?q=a&limit=101', 'limit'],
      ['?q=a&limit=0', 'limit'],
    ] as const) {
      expect(await fixture.call('apps.search', caller, { query })).toMatchObject({
        status: 400,
        body: { errors: [{ path: [at] }] },
      })
    }
  })
})

describe('apps.get', () => {
  it('shows an app of the catalog by its id in any case, and by its slug however it is written', async () => {
    const mark = randomUUID().slice(0, 8)
    const made = await fixture.app({
      slug: `book-shelf-${mark}`,
      description: 'Books',
      logo_url: 'https://app.example/logo.svg',
      terms_url: 'https://app.example/terms',
      privacy_url: 'https://app.example/privacy',
      categories: ['commerce'],
      owner_signup_limit: 3,
    })
    const document = {
      app_id: made.app_id,
      slug: made.slug,
      name: made.name,
      description: 'Books',
      logo_url: 'https://app.example/logo.svg',
      terms_url: 'https://app.example/terms',
      privacy_url: 'https://app.example/privacy',
      categories: ['commerce'],
      owner_signup_limit: 3,
      updated_at: made.updated_at,
    }
    for (const named of [
      made.app_id,
      made.app_id.toUpperCase(),
      String(made.slug),
      `Book Shelf! ${mark.toUpperCase()}`,
    ]) {
      expect((await get(named)).body).toEqual(document)
    }
    const { slug: _slug, categories: _categories, app_id: provider_id, ...rest } = document
    const old = await fixture.call('providers.get', caller, { params: { app_id: made.app_id } })
    expect(old.body).toEqual({ provider_id, ...rest })
  })

  it('shows id and name of a registered app outside the catalog, by its id only', async () => {
    const made = await fixture.app({ listed: false, owner_signup_limit: 2 })
    expect((await get(made.app_id)).body).toEqual({ app_id: made.app_id, name: made.name })
    expect((await get(String(made.slug))).status).toBe(404)
  })

  it('answers 404 for what is no app, and 400 where nothing is left to compare', async () => {
    const open = await signIn(fixture, 'https://open.example/', makeTenant(fixture).inbox())
    for (const named of [randomUUID(), 'no-such-app', open.app_id]) {
      expect(await get(named)).toMatchObject({ status: 404, body: { message: 'App not found' } })
    }
    expect(await get('---')).toMatchObject({ status: 400, body: { errors: [{ path: ['app_id'] }] } })
  })

  it("has the limit of the caller's organization, also 0, in place of the app's", async () => {
    const { app_id } = await fixture.app({ owner_signup_limit: 9 })
    const set = (limit: number | null) => ({
      app_id,
      organization_id: caller.organization_id,
      limit,
      operator: 'tester',
    })
    await fixture.internal('apps-signin.setSignUpLimit', set(0))
    expect((await get(app_id)).body).toMatchObject({ owner_signup_limit: 0 })
    const stranger = await fixture.call('apps.get', callerOf(), { params: { app_id } })
    expect(stranger.body).toMatchObject({ owner_signup_limit: 9 })
    expect(JSON.stringify((await list('?limit=100')).body)).toContain('"owner_signup_limit":0')
  })
})

describe('apps.listAccounts', () => {
  it('shows the latest sign-in first within the scope of the caller, with the app', async () => {
    const [made, tenant] = [await fixture.app(), makeTenant(fixture)]
    const [inbox, other] = [tenant.inbox(), tenant.inbox()]
    const first = await signIn(fixture, made.client_id, inbox)
    const second = await signIn(fixture, made.client_id, other)
    await signIn(fixture, made.client_id, makeTenant(fixture).inbox())
    await signIn(fixture, made.client_id, inbox)
    const at = (as: typeof tenant.owner, query = '') =>
      fixture.call('apps.listAccounts', as, { params: { app_id: String(made.slug) }, query })
    expect((await at(tenant.owner)).body).toMatchObject({
      count: 2,
      limit: 50,
      accounts: [{ account_id: first.id, sign_in_count: 2 }, { account_id: second.id }],
      app: { app_id: made.app_id, slug: made.slug },
    })
    const page = await at(tenant.owner, '?limit=1')
    const rest = await at(
      tenant.owner,
      `?limit=1&page_token=${encodeURIComponent(String(page.body['next_page_token']))}`,
    )
    expect(rest.body).toMatchObject({ count: 1, limit: 1, accounts: [{ account_id: second.id }] })
    expect((await at(tenant.inInbox(other))).body).toMatchObject({ count: 1, accounts: [{ account_id: second.id }] })
    expect((await at(tenant.owner, '?limit=500')).body).toMatchObject({ limit: 100 })
  })

  it('is empty without an app for one that is unknown, and keeps the accounts at one that was removed', async () => {
    for (const app_id of [randomUUID(), 'no-such-app']) {
      const { status, body } = await fixture.call('apps.listAccounts', caller, { params: { app_id } })
      expect({ status, body }).toEqual({ status: 200, body: { count: 0, limit: 50, accounts: [] } })
    }
    expect((await fixture.call('apps.listAccounts', caller, { params: { app_id: '!' } })).status).toBe(400)
    const [made, tenant] = [await fixture.app(), makeTenant(fixture)]
    const { id } = await signIn(fixture, made.client_id, tenant.inbox())
    await fixture.internal('apps-signin.removeApp', { app_id: made.app_id, operator: 'tester' })
    const { body } = await fixture.call('apps.listAccounts', tenant.owner, { params: { app_id: made.app_id } })
    expect(body).toMatchObject({ accounts: [{ account_id: id }] })
    expect(body).not.toHaveProperty('app')
  })
})

describe('the older names of the catalog', () => {
  it('answer with the older keys', async () => {
    const [made, tenant] = [await fixture.app(), makeTenant(fixture)]
    await signIn(fixture, made.client_id, tenant.inbox())
    const listed = await fixture.call('providers.list', caller, { query: '?limit=100' })
    expect(listed.body).toMatchObject({ limit: 100, providers: expect.any(Array) })
    expect(listed.text).toContain(`"provider_id":"${made.app_id}"`)
    expect(listed.text).not.toMatch(/"(app_id|slug|categories)"/)
    const found = await fixture.call('providers.search', caller, { query: `?q=${encodeURIComponent(made.name)}` })
    expect(found.body).toMatchObject({ count: 1, providers: [{ provider_id: made.app_id }] })
    const accounts = await fixture.call('providers.listAccounts', tenant.owner, { params: { app_id: made.app_id } })
    expect(accounts.body).toMatchObject({ count: 1, accounts: [{}], provider: { provider_id: made.app_id } })
    expect(accounts.body).not.toHaveProperty('app')
  })
})

describe('the ranking', () => {
  it('is computed once an hour, by one of any number of replicas', async () => {
    await queryRows(fixture.db, "update rank_snapshots set created_at = created_at - interval '2 hours'")
    const before = await countRows(fixture.db, 'rank_snapshots')
    const ranked = await Promise.all(Array.from({ length: 5 }, () => rankApps(fixture.db)))
    expect(ranked.filter(Boolean)).toHaveLength(1)
    expect(await countRows(fixture.db, 'rank_snapshots')).toBe(before + 1)
    expect(await rankApps(fixture.db)).toBe(false)
  })

  it('keeps an order for a day', async () => {
    await queryRows(fixture.db, "update rank_snapshots set created_at = created_at - interval '2 days'")
    await rank()
    expect(await countRows(fixture.db, 'rank_snapshots')).toBe(1)
  })
})
