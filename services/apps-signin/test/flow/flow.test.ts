import { Browser, finishBody, makeKey } from '../support/browser.ts'
import { returned, shownOn } from '../support/proven.ts'
import { type EnrolledKey, SignIn } from './relying-party.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage.stop())

async function scene(...options: string[]) {
  const organization = await stage.gateway.organization(...options)
  return { organization, inbox: await stage.gateway.addInbox(organization) }
}

/** What the script of a page does to get a key. */
async function enroll(browser: Browser, by: object): Promise<EnrolledKey> {
  const key = await makeKey()
  const { status, body } = await browser.call('/v0/enroll/start', by)
  expect(status).toBe(200)
  expect((await browser.call('/v0/enroll/finish', await finishBody(stage.authBase, body, key))).status).toBe(204)
  return { apiKeyId: String(body['api_key_id']), inboxId: String(body['inbox_id']), key }
}

async function allow(signIn: SignIn): Promise<void> {
  const page = await signIn.goOn()
  expect(page.status).toBe(200)
  const answer = { jti: signIn.jti, allow: true, shown: shownOn(page) }
  expect((await signIn.browser.call('/v0/authorize/consent', answer)).status).toBe(200)
}

const eventsOf = (inboxUid: string, type: string) =>
  stage.published.next(({ key, type: found }) => key === inboxUid && found === type, { what: type })

describe('a sign-in', () => {
  it('goes by a magic link from connect to UserInfo, and again without questions', async () => {
    const { organization, inbox } = await scene()
    const app = await stage.app()
    const connected = await stage.gateway.request(organization.key, 'POST', `/v0/apps/${app.slug}/connect`, {
      inbox_id: inbox.address,
    })
    const keyPath = `/v0/api-keys/${connected['api_key_id']}`
    expect(await stage.gateway.request(organization.key, 'GET', keyPath)).toMatchObject({ status: 'pending' })
    const browser = new Browser(stage.authBase)
    const ticket = new URL(String(connected['magic_url'])).pathname
    expect((await browser.get(ticket)).text).toContain('https://app.example/login?iss=')
    const key = await enroll(browser, { ticket: ticket.slice('/connect/'.length) })
    expect(key).toMatchObject({ apiKeyId: connected['api_key_id'], inboxId: inbox.address })
    expect(await stage.gateway.request(organization.key, 'GET', keyPath)).toMatchObject({ status: 'active' })

    const first = new SignIn(stage.authBase, app, browser)
    await first.begin('openid email profile', { login_hint: inbox.address })
    const { status, body } = await first.sign(key)
    expect([status, body['next']]).toEqual([200, `${stage.authBase}/v0/authorize/continue?jti=${first.jti}`])
    await allow(first)
    const { token, info } = await first.redeem(await first.goOn())
    expect(token).toMatchObject({ sub: info['sub'], email: inbox.address, org: organization.id })
    expect(info).toMatchObject({ actor_type: 'agent', email: inbox.address, email_verified: true })
    const listed = await stage.gateway.request(organization.key, 'GET', '/v0/accounts')
    expect(listed).toMatchObject({ accounts: [{ app_id: app.app_id, inbox_id: inbox.address, sign_in_count: 1 }] })

    const second = new SignIn(stage.authBase, app, browser)
    await second.begin('openid email profile', { prompt: 'none' })
    await second.sign(key)
    expect((await second.redeem(await second.goOn())).token.sub).toBe(token.sub)
    await eventsOf(inbox.inboxUid, 'sign_in.completed')

    await stage.gateway.request(organization.key, 'DELETE', keyPath)
    const third = new SignIn(stage.authBase, app, browser)
    await third.begin('openid email')
    expect((await third.sign(key)).status).toBe(401)
  })

  it('goes by an agent that authorizes the page of a browser', async () => {
    const { organization, inbox } = await scene()
    const signIn = new SignIn(stage.authBase, await stage.app())
    const action = await signIn.begin('openid email')
    expect(action).toMatchObject({ type: 'agentid_session_required', issuer: stage.authBase })
    expect(await signIn.state()).toBe('waiting')
    const target = new URL(action.authorize_endpoint.replace('{inbox_id}', inbox.address)).pathname
    const authorized = await stage.gateway.request(organization.key, 'POST', target, {
      auth_token: action.auth_token,
      accept_disclosure: true,
    })
    expect(await signIn.state()).toBe('enroll')
    const key = await enroll(signIn.browser, { jti: signIn.jti })
    expect(key.apiKeyId).toBe(authorized['api_key_id'])
    await signIn.sign(key)
    expect(await signIn.state()).toBe('approved')
    const { info } = await signIn.redeem(await signIn.goOn())
    expect(info).toMatchObject({ email: inbox.address })
    await eventsOf(inbox.inboxUid, 'sign_in.approved')
  })

  it('goes by the approval of a registered key', async () => {
    const { organization, inbox } = await scene()
    const key = await makeKey()
    const registered = await stage.gateway.request(organization.key, 'POST', '/v0/api-keys', { public_key: key.jwk })
    const signIn = new SignIn(stage.authBase, await stage.app())
    await signIn.begin('openid email')
    const claims = { jti: signIn.jti, inbox_id: inbox.address }
    const header = { typ: 'agentid-approval+jwt', kid: String(registered['api_key_id']) }
    const approved = await fetch(`${stage.authBase}/v0/authorize/approve`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assertion: await key.sign(header, claims), inbox_id: inbox.address }),
    })
    expect(approved.status).toBe(204)
    expect(await signIn.state()).toBe('approved')
    await allow(signIn)
    expect((await signIn.redeem(await signIn.goOn())).info).toMatchObject({ email: inbox.address })
  })

  it('waits for the human owner when its key may not share who that is', async () => {
    const human = 'olga@example.com'
    const { organization, inbox } = await scene('--human', human, '--human-name', 'Olga Owner')
    const { api_key } = await stage.gateway.request(organization.key, 'POST', '/v0/api-keys', {
      name: 'agent',
      permissions: { app_connect: true, inbox_read: true },
    })
    const app = await stage.app({ scopes: ['openid', 'email', 'owner_profile', 'owner_email'] })
    const signIn = new SignIn(stage.authBase, app)
    const { auth_token } = await signIn.begin('openid owner_profile owner_email')
    await stage.gateway.request(String(api_key), 'POST', `/v0/inboxes/${inbox.address}/authorize`, { auth_token })
    await signIn.sign(await enroll(signIn.browser, { jti: signIn.jti }))
    await allow(signIn)
    expect((await signIn.goOn()).status).toBe(200)
    expect(await signIn.state()).toBe('waiting')
    const mail = stage.mails.find(({ to }) => to === human)
    const [link = '', token] = /http:\S+\/owner\/([\w-]{43})/.exec(mail?.text ?? '') ?? []
    const owner = new Browser(stage.authBase)
    expect((await owner.get(link)).text).toContain('Olga Owner')
    expect((await owner.call('/owner/decide', { token, allow: true })).status).toBe(204)
    expect(await signIn.state()).toBe('approved')
    const { token: claims, info } = await signIn.redeem(await signIn.goOn())
    expect(claims).toMatchObject({ owner_name: 'Olga Owner', owner_email: human })
    expect(info).toMatchObject({ owner_name: 'Olga Owner', owner_email: human, owner_email_verified: true })
  })

  it('gives one key to a hundred browsers keys that are proven at once', async () => {
    const { organization, inbox } = await scene()
    const app = await stage.app()
    const connect = () =>
      fetch(`${stage.gateway.url}/v0/providers/${app.app_id}/connect`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${organization.key}`,
          'content-type': 'application/json',
          'idempotency-key': 'sign in, once!'.replaceAll(' ', '/'),
        },
        body: JSON.stringify({ inbox_id: inbox.address }),
      }).then(async (response): Promise<Record<string, string>> => JSON.parse(await response.text()))
    const { api_key_id, magic_url = '' } = await connect()
    expect((await connect())['magic_url']).toBe(magic_url)
    const browser = new Browser(stage.authBase)
    const { body } = await browser.call('/v0/enroll/start', { ticket: magic_url.slice(-43) })
    const keys = await Promise.all(Array.from({ length: 100 }, makeKey))
    const bodies = await Promise.all(keys.map((key) => finishBody(stage.authBase, body, key)))
    const answers = await Promise.all(bodies.map((each) => browser.callAgain('/v0/enroll/finish', each)))
    const winners = keys.filter((_, index) => answers[index]?.status === 204)
    expect(winners).toHaveLength(1)
    const stored = await stage.gateway.request(organization.key, 'GET', `/v0/api-keys/${api_key_id}`)
    expect(stored).toMatchObject({ status: 'active', public_key: { jwk: winners[0]?.jwk } })
  })

  it('issues one code however many tabs go on at once', async () => {
    const { organization, inbox } = await scene()
    const signIn = new SignIn(stage.authBase, await stage.app())
    const { auth_token } = await signIn.begin('openid email')
    const target = `/v0/inboxes/${inbox.address}/authorize`
    await stage.gateway.request(organization.key, 'POST', target, { auth_token, accept_disclosure: true })
    await signIn.sign(await enroll(signIn.browser, { jti: signIn.jti }))
    const tabs = await Promise.all(Array.from({ length: 10 }, () => signIn.goOn()))
    expect(tabs.filter((tab) => 'code' in returned(tab))).toHaveLength(1)
  })
})
