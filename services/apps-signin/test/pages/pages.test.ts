import { processorMs } from '@restante/testkit'
import {
  consentPage,
  enrollmentPage,
  errorPage,
  expiredLinkPage,
  ownerDonePage,
  ownerPage,
  ownerWaitingPage,
  type RenderedPage,
  sessionsPage,
  type WaitingData,
  waitingPage,
} from '../../src/pages/index.ts'

/** What everybody may have chosen: names, addresses, texts. */
const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;`
const LATER = new Date('2026-08-26T10:30:00Z')
const app = { name: HOSTILE, host: 'app.example', termsUrl: 'https://app.example/?a="', privacyUrl: null }
const waiting: WaitingData = {
  app,
  clientId: HOSTILE,
  redirectUri: 'https://app.example/callback',
  scopes: ['openid', 'owner_email'],
  jti: 'A'.repeat(22),
  authToken: 'B'.repeat(22),
  expiresAt: LATER,
  loginHint: null,
  promptNone: false,
  authBase: 'https://sign-in.example',
  apiBase: 'https://api.example',
}
const values = { sub: HOSTILE, email: HOSTILE, name: HOSTILE, owner_name: HOSTILE, owner_email: HOSTILE }

const PAGES: readonly (readonly [string, RenderedPage])[] = [
  ['waiting', waitingPage({ ...waiting, loginHint: HOSTILE })],
  ['enrollment', enrollmentPage({ app, ticket: HOSTILE, address: HOSTILE, continueTo: HOSTILE })],
  [
    'consent',
    consentPage({
      app,
      jti: HOSTILE,
      address: HOSTILE,
      values,
      ownerIsAsked: true,
      disclosure: HOSTILE,
      shown: HOSTILE,
    }),
  ],
  ['owner', ownerPage({ app, token: HOSTILE, address: HOSTILE, values, disclosure: HOSTILE, expiresAt: LATER })],
  ['allowed by the owner', ownerDonePage({ app, address: HOSTILE, decision: 'allowed' })],
  ['waiting for the owner', ownerWaitingPage({ app, jti: HOSTILE, address: HOSTILE, expiresAt: LATER })],
  ['sessions', sessionsPage()],
  ['error', errorPage({ status: 400, title: HOSTILE, text: HOSTILE })],
  ['expired link', expiredLinkPage()],
]

it.each(PAGES)(
  'sends the %s page so that it loads from its own origin only, and is kept nowhere',
  (_, { headers, body }) => {
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
    expect(body).not.toMatch(/<script(?! type="module" src="\/assets\/[\w-]{16}\/[\w-]+\.js"><\/script>)/)
    expect(body).not.toMatch(/<(style|iframe|img|form|object)\b| style=| on[a-z]+="/)
  },
)

it.each(PAGES)('shows what others wrote on the %s page as text', (_, { body }) => {
  expect(body).not.toContain('<script>')
  expect(body).not.toContain('<img')
  // Every attribute ends where it should: what follows a hostile quote is still inside.
  expect(body).not.toMatch(/="[^"]*"><script/)
})

describe('the page of a sign-in that waits', () => {
  function actionOf(page: RenderedPage): unknown {
    const [, content = ''] = /<meta name="agentid-session-action" content="([^"]*)">/.exec(page.body) ?? []
    return JSON.parse(content.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
  }

  it('tells an agent what to call, in the element that public clients read', () => {
    expect(actionOf(waitingPage(waiting))).toEqual({
      type: 'agentid_session_required',
      issuer: 'https://sign-in.example',
      browser_origin: 'https://sign-in.example',
      authorize_endpoint: 'https://api.example/v0/inboxes/{inbox_id}/authorize',
      auth_token: 'B'.repeat(22),
      request_id: 'A'.repeat(22),
      expires_at: 1_787_740_200,
      login_hint: null,
      login_hint_authoritative: false,
    })
  })

  it('names the inbox of the login hint only if it looks like an address', () => {
    expect(actionOf(waitingPage({ ...waiting, loginHint: 'agent@example.com' }))).toMatchObject({
      login_hint: 'agent@example.com',
    })
    for (const loginHint of ['somebody', 'call +1 555 0100 now', HOSTILE, `${'a'.repeat(70)}@example.com`]) {
      const page = waitingPage({ ...waiting, loginHint })
      expect(actionOf(page)).toMatchObject({ login_hint: null })
      expect(page.body.slice(page.body.indexOf('<section'))).not.toContain(loginHint)
    }
  })

  it('shows the app, where the data goes, what is asked for, and the request id', () => {
    const { body } = waitingPage({ ...waiting, app: { name: 'Example', host: 'app.example' } })
    for (const shown of ['Example', 'app.example', 'The email address of the person', 'A'.repeat(22)]) {
      expect(body.slice(body.indexOf('data-state="waiting"'))).toContain(shown)
    }
    expect(body).not.toContain('display name')
  })
})

describe('the page that asks for consent', () => {
  const page = (disclosure: string | null, shared: Parameters<typeof consentPage>[0]['values'] = {}) =>
    consentPage({
      app,
      jti: 'j',
      address: 'a@example.com',
      values: shared,
      ownerIsAsked: false,
      disclosure,
      shown: 's',
    }).body

  it('shows each value that is shared, and no other', () => {
    const body = page(null, { sub: 'subject-1', email: 'a@example.com' })
    expect([...body.matchAll(/<dt>(.*?)<\/dt>/g)].map(([, label]) => label)).toEqual([
      'Inbox address',
      'Identifier of the inbox',
    ])
    expect(body).toContain('subject-1')
  })

  it('links to the terms of the app without a referrer', () => {
    expect(page(null)).toContain(
      '<a href="https://app.example/?a=&quot;" target="_blank" rel="noopener noreferrer">Terms of service</a>',
    )
    expect(page(null)).not.toContain('Privacy policy')
  })

  it.each([
    ['**bold** and `code`', '<strong>bold</strong> and <code>code</code>'],
    ['# Title', '<h3>Title</h3>'],
    ['- one\n- two', '<ul>\n<li>one</li>\n<li>two</li>\n</ul>'],
    ['[a](https://x.example)', '<a href="https://x.example" target="_blank" rel="noopener noreferrer nofollow">a</a>'],
    ['<b onclick="x()">a</b>', '&lt;b onclick=&quot;x()&quot;&gt;a&lt;/b&gt;'],
    ['<div>\n<script>x()</script>', '&lt;div&gt;\n&lt;script&gt;x()&lt;/script&gt;'],
    ['[a](javascript:x)', '[a](javascript:x)'],
    ['[a](JAVASCRIPT&colon;x)', '[a](JAVASCRIPT:x)'],
    ['[a](data:text/html,x)', '[a](data:text/html,x)'],
    ['[a](/v0/authorize/continue)', '[a](/v0/authorize/continue)'],
  ])('renders the disclosure %j as harmless HTML', (disclosure, html) => {
    expect(page(disclosure)).toContain(html)
  })

  it('loads no image of a disclosure', () => {
    expect(page('![a](https://x.example/pixel.png)')).not.toContain('<img')
  })

  it('renders the largest disclosure of any shape at once', () => {
    for (const bit of ['*', '[', '`', '> ', '![](', '<a ', '_a_', '- ', '&', '\\']) {
      const disclosure = bit.repeat(Math.floor(4_096 / bit.length))
      expect(processorMs(() => page(disclosure))).toBeLessThan(2_000)
    }
  })
})
