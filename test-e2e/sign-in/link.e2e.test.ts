import { authorize, connect, newAgent } from './agent.ts'
import { claimsAt, describeInBrowser, press, shows } from './pages-in-browser.ts'

const MAY_SHOW = /Failed to load resource|favicon/

describeInBrowser('a link that an agent made', 'openid email profile', (suite) => {
  const { system, open } = suite

  it('leads from the API to the app, signed in, and the next sign-in asks nothing', async () => {
    const agent = await newAgent(system, 'Procurement')
    const { url, keyId } = await connect(agent, suite.app.appId)
    const { page, complaints, requested } = await open()
    await page.goto(url)
    await shows(page, 'Sign in to Example Research')
    expect(await page.locator('.account').first().textContent()).toBe(agent.inboxId)
    expect(await agent.api.get(`/v0/api-keys/${keyId}`)).toMatchObject({ body: { status: 'pending' } })
    await press(page, 'Sign in')
    await shows(page, 'Sign in to Example Research?')
    await press(page, 'Allow')
    const claims = await claimsAt(page)
    expect(claims).toMatchObject({
      iss: system.endpoints.signInUrl,
      aud: suite.app.appId,
      email: agent.inboxId,
      name: 'Procurement',
      actor_type: 'agent',
    })
    expect(await agent.api.get(`/v0/api-keys/${keyId}`)).toMatchObject({ body: { status: 'active' } })
    const { body } = await agent.api.get(`/v0/inboxes/${encodeURIComponent(agent.inboxId)}/accounts`)
    expect(body).toMatchObject({ accounts: [{ app_id: suite.app.appId, sign_in_count: 1 }] })
    // The second time nobody is asked: no page waits for anything.
    await page.goto(`${suite.app.base}/login?login_hint=${encodeURIComponent(agent.inboxId)}`)
    expect(await claimsAt(page)).toMatchObject({ sub: claims['sub'] })
    const elsewhere = requested.filter(
      (one) => !one.includes(system.endpoints.signInUrl) && !one.includes(suite.app.base),
    )
    expect([elsewhere, complaints.filter((one) => !MAY_SHOW.test(one))]).toEqual([[], []])
    await page.context().close()
  })

  it('is not used up by programs that open it before its reader, even with a browser', async () => {
    const agent = await newAgent(system)
    const { url } = await connect(agent, suite.app.appId)
    for (const method of ['GET', 'HEAD']) expect((await fetch(url, { method })).status).toBe(200)
    const scanner = await open()
    await scanner.page.goto(url, { waitUntil: 'networkidle' })
    await scanner.page.context().close()
    const { page } = await open()
    await page.goto(url)
    await press(page, 'Sign in')
    await shows(page, 'Sign in to Example Research?')
    await page.context().close()
  })

  it('works once: the second of two browsers, and every later one, is told so', async () => {
    const agent = await newAgent(system)
    const { url } = await connect(agent, suite.app.appId)
    const [first, second] = await Promise.all([open(), open()])
    await Promise.all([first.page.goto(url), second.page.goto(url)])
    await press(first.page, 'Sign in')
    await shows(first.page, 'Sign in to Example Research?')
    await press(second.page, 'Sign in')
    await shows(second.page, 'This link is no longer valid')
    const later = await second.page.goto(url)
    expect(later?.status()).toBe(410)
    await shows(second.page, 'This link is no longer valid')
    expect((await fetch(`${url}x`)).status).toBe(410)
    for (const { page } of [first, second]) await page.context().close()
  })

  it('signs in once when its button is pressed twice', async () => {
    const agent = await newAgent(system)
    const { url } = await connect(agent, suite.app.appId, { accept_disclosure: true })
    const { page } = await open()
    await page.goto(url)
    await page.getByRole('button', { name: 'Sign in' }).dblclick()
    expect(await claimsAt(page)).toMatchObject({ email: agent.inboxId })
    await page.context().close()
  })

  it('leaves keys of several inboxes in a browser, which asks for which one, and forgets one', async () => {
    const agents = [await newAgent(system), await newAgent(system)] as const
    const { page } = await open()
    for (const agent of agents) {
      await page.goto((await connect(agent, suite.app.appId, { accept_disclosure: true })).url)
      await press(page, 'Sign in')
      expect(await claimsAt(page)).toMatchObject({ email: agent.inboxId })
    }
    await page.goto(`${suite.app.base}/login`)
    await shows(page, 'Which inbox signs in to Example Research?')
    await press(page, agents[0].inboxId)
    expect(await claimsAt(page)).toMatchObject({ email: agents[0].inboxId })

    await page.goto(`${system.endpoints.signInUrl}/sessions`)
    await shows(page, 'Inboxes in this browser')
    const rows = page.getByRole('list', { name: 'Inboxes' }).getByRole('listitem')
    await rows.nth(1).waitFor()
    await page.getByRole('button', { name: `Forget ${agents[0].inboxId}` }).click()
    await rows.nth(1).waitFor({ state: 'detached' })
    expect(await rows.textContent()).toContain(agents[1].inboxId)
    await page.goto(`${suite.app.base}/login`)
    expect(await claimsAt(page)).toMatchObject({ email: agents[1].inboxId })
    await page.goto(`${suite.app.base}/login?login_hint=${encodeURIComponent(agents[0].inboxId)}`)
    await shows(page, 'Waiting for an agent')
    await page.context().close()
  })

  it('leaves a key that the browser forgets once the agent has deleted it', async () => {
    const agent = await newAgent(system)
    const { url, keyId } = await connect(agent, suite.app.appId, { accept_disclosure: true })
    const { page } = await open()
    await page.goto(url)
    await press(page, 'Sign in')
    await claimsAt(page)
    expect((await agent.api.delete(`/v0/api-keys/${keyId}`)).status).toBeLessThan(300)
    await page.goto(`${suite.app.base}/login`)
    await authorize(agent, page)
    expect(await claimsAt(page)).toMatchObject({ email: agent.inboxId })
    await page.context().close()
  })
})
