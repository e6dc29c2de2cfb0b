import { byLength } from '@restante/testkit'
import pg from 'pg'
import type { Page } from 'playwright-core'
import { authorize, connect, newAgent, ownedAgent, ownerLink } from './agent.ts'
import { claimsAt, describeInBrowser, press, shows } from './pages-in-browser.ts'

/** Ends the sign-in of each page, as ten minutes would. */
async function letExpire(url: string, pages: readonly Page[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const page of pages) {
    const jti = await page.locator('main').getAttribute('data-jti')
    await client.query('update transactions set expires_at = now() where jti = $1', [jti])
  }
  await client.end()
}

describeInBrowser('a sign-in that begins at the app', 'openid email', (suite) => {
  const { system, open } = suite
  const login = (hint = '') => `${suite.app.base}/login${hint && `?login_hint=${encodeURIComponent(hint)}`}`

  it('waits for an agent, asks, ends without data after Deny, and signs in after Allow', async () => {
    const agent = await newAgent(system)
    const { page, complaints } = await open()
    await page.goto(login(agent.inboxId))
    await shows(page, 'Waiting for an agent to sign in to Example Research')
    expect(await page.locator('[data-state=waiting]').textContent()).toContain(agent.inboxId)
    await authorize(agent, page)
    await shows(page, 'Sign in to Example Research?')
    const labels = await page.locator('dt').allTextContents()
    expect(labels).toEqual(['Inbox address', 'Identifier of the inbox', 'Identifier of the organization'])
    expect(await page.locator('.disclosure').textContent()).toContain('We send results to it')
    await press(page, 'Deny')
    await shows(page, 'Not signed in')
    expect(await page.locator('body').textContent()).toContain('access_denied')
    // A refusal is not remembered; the key is.
    await page.goto(login(agent.inboxId))
    await shows(page, 'Sign in to Example Research?')
    await page.getByRole('button', { name: 'Allow' }).dblclick()
    expect(await claimsAt(page)).toMatchObject({ email: agent.inboxId })
    expect(complaints.filter((one) => !/Failed to load resource/.test(one))).toEqual([])
    await page.context().close()
  })

  it('leaves nothing in the history that Back could lead to', async () => {
    const agent = await newAgent(system)
    const { page } = await open()
    await page.goto(suite.app.base)
    await page.getByRole('link', { name: 'Sign in with an inbox' }).click()
    await authorize(agent, page, { accept_disclosure: true })
    await claimsAt(page)
    await page.goBack()
    expect(new URL(page.url()).origin).toBe(suite.app.base)
    await page.context().close()
  })

  it('belongs to its browser: another one cannot finish it', async () => {
    const agent = await newAgent(system)
    const [{ page }, stranger] = await Promise.all([open(), open()])
    await page.goto(login(agent.inboxId))
    await page.locator('[data-state=waiting]').waitFor({ state: 'visible' })
    const jti = await page.locator('main').getAttribute('data-jti')
    const { signInUrl } = system.endpoints
    const answer = await stranger.page.goto(`${signInUrl}/v0/authorize/continue?jti=${jti}`)
    expect(answer?.status()).toBe(401)
    const status = await stranger.page.evaluate(
      async (jti) =>
        (
          await fetch('/v0/enroll/status', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ jti }),
          })
        ).status,
      jti,
    )
    expect(status).toBe(401)
    await authorize(agent, page, { accept_disclosure: true })
    expect(await claimsAt(page)).toMatchObject({ email: agent.inboxId })
    for (const each of [page, stranger.page]) await each.context().close()
  })

  it('says that it has expired, in a page that waits and in one that asks', async () => {
    const agent = await newAgent(system)
    const [{ page: waiting }, { page: asking }] = await Promise.all([open(), open()])
    await asking.goto(login(agent.inboxId))
    await authorize(agent, asking)
    await shows(asking, 'Sign in to Example Research?')
    await waiting.goto(login())
    await shows(waiting, 'Waiting for an agent')
    await letExpire(system.endpoints.databases['apps-signin'], [waiting, asking])
    await press(asking, 'Allow')
    await shows(asking, 'This sign-in has expired')
    await shows(waiting, /expired|over/)
    for (const page of [waiting, asking]) await page.context().close()
  })

  it('needs JavaScript and a place for keys, and says so', async () => {
    const [{ page: plain }, { page: without }] = await Promise.all([open({ javaScriptEnabled: false }), open()])
    await plain.goto(login())
    expect(await plain.locator('h1:visible').allTextContents()).toEqual(['This page needs JavaScript'])
    await without.addInitScript('delete globalThis.indexedDB; Object.defineProperty(globalThis, "indexedDB", {})')
    await without.goto(login())
    await shows(without, 'This browser cannot sign in')
    for (const page of [plain, without]) await page.context().close()
  })

  it('never asks with prompt=none', async () => {
    const { page } = await open()
    await page.goto(login())
    await page.locator('[data-state=waiting]').waitFor({ state: 'visible' })
    const silent = new URL(page.url())
    silent.searchParams.set('prompt', 'none')
    await page.goto(silent.href)
    await shows(page, 'Not signed in')
    expect(page.url()).toContain('error=login_required')
    await page.context().close()
  })
})

describeInBrowser('a sign-in that asks for details of the owner', 'openid owner_profile owner_email', (suite) => {
  const { system, open } = suite

  async function toOwner(decision: 'Allow' | 'Deny') {
    const human = system.peer.address(`owner-${decision.toLowerCase()}`)
    const agent = await ownedAgent(system, human)
    const [{ page }, owner] = await Promise.all([open(), open()])
    await page.goto((await connect(agent, suite.app.appId)).url)
    await press(page, 'Sign in')
    await shows(page, 'Sign in to Example Research?')
    await press(page, 'Allow')
    await shows(page, 'Waiting for the owner')
    const link = await ownerLink(system, human)
    // A scanner of the owner's mail decides nothing.
    expect((await fetch(link)).status).toBe(200)
    await owner.page.goto(link)
    await shows(owner.page, 'Share your details with Example Research?')
    expect(await owner.page.locator('dd').allTextContents()).toContain(human)
    await press(owner.page, decision)
    return { page, owner: owner.page, human, link }
  }

  it('goes on once the owner has allowed it by a mailed link, which then shows the answer', async () => {
    const { page, owner, human, link } = await toOwner('Allow')
    await shows(owner, 'You allowed it')
    expect(await claimsAt(page)).toMatchObject({ owner_email: human, owner_email_verified: true })
    await owner.goto(link)
    await shows(owner, 'You allowed it')
    for (const each of [page, owner]) await each.context().close()
  })

  const itAtFullLength = byLength({ short: it.skip, long: it })
  itAtFullLength('ends without data once the owner has denied it', async () => {
    const { page, owner } = await toOwner('Deny')
    await shows(owner, 'You denied it')
    await shows(page, 'Not signed in')
    expect(await page.locator('body').textContent()).toContain('access_denied')
    for (const each of [page, owner]) await each.context().close()
  })
})
