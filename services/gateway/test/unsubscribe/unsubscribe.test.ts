import { createHash } from 'node:crypto'
import { request } from 'undici'
import { startGateway, type TestGateway } from '../gateway.ts'

const TOKEN = 'a'.repeat(43)
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const ONE_CLICK = 'List-Unsubscribe=One-Click'

describe('the page to unsubscribe', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({
      RATE_LIMIT_FAILED_AUTHENTICATION: '3/h',
      RATE_LIMIT_UNSUBSCRIBE: '4/h',
      RATE_LIMIT_EXEMPT_LOOPBACK: 'false',
      TRUSTED_PROXIES: '127.0.0.1',
    })
  })
  afterAll(() => gateway.stop())
  beforeEach(() => {
    gateway.behind.links.clear()
    gateway.behind.unsubscribed.length = 0
    gateway.behind.refusing.clear()
  })

  let links = 0
  /** A link of its own, so that tests share no limit. */
  function linkTo(recipient = 'a•••@outside.example'): string {
    const token = `${TOKEN.slice(0, -6)}${String(++links).padStart(6, '0')}`
    gateway.behind.links.set(token, recipient)
    return token
  }

  async function open(
    token: string,
    {
      method = 'GET',
      body,
      headers = {},
    }: {
      method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'OPTIONS'
      body?: string | Buffer
      headers?: Record<string, string>
    } = {},
  ) {
    const from = { 'x-forwarded-for': '203.0.113.1', ...headers }
    const answer = await request(`${gateway.url}/u/${token}`, {
      method,
      headers: from,
      ...(body !== undefined && { body }),
    })
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }
  const post = (token: string, body: string | Buffer = ONE_CLICK, headers: Record<string, string> = FORM) =>
    open(token, { method: 'POST', body, headers })

  it('asks at GET, and changes nothing, however often a scanner opens it', async () => {
    const token = linkTo()
    for (const method of ['GET', 'HEAD', 'GET'] as const) {
      const { status, headers, text } = await open(token, { method })
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(text === '').toBe(method === 'HEAD')
      if (method === 'GET') expect(text).toContain('<strong>a•••@outside.example</strong>')
    }
    expect(gateway.behind.unsubscribed).toEqual([])
  })

  it.each([
    ['a form', ONE_CLICK, FORM],
    [
      'a form in parts',
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
      { 'content-type': 'multipart/form-data; boundary=x' },
    ],
  ])('unsubscribes at POST, with %s, without a redirect or a cookie', async (_, body, headers) => {
    const token = linkTo()
    const answer = await post(token, body, headers)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('You are unsubscribed')
    expect(answer.headers).not.toHaveProperty('set-cookie')
    expect(answer.headers).not.toHaveProperty('location')
    expect(gateway.behind.unsubscribed).toEqual([token])
    expect((await open(token)).text).toContain('You are unsubscribed')
  })

  it.each([
    ['nothing', '', FORM],
    ['another word', 'List-Unsubscribe=Two-Clicks', FORM],
    ['JSON', '{"List-Unsubscribe":"One-Click"}', { 'content-type': 'application/json' }],
    ['no type', ONE_CLICK, {}],
    ['broken parts', '--y', { 'content-type': 'multipart/form-data; boundary=x' }],
  ])('400 for a POST with %s, which changes nothing', async (_, body, headers) => {
    const answer = await post(linkTo(), body, headers)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('Nothing was changed')
    expect(gateway.behind.unsubscribed).toEqual([])
  })

  it('413 for a long body', async () => {
    expect((await post(linkTo(), `${ONE_CLICK}&a=${'a'.repeat(5_000)}`)).status).toBe(413)
  })

  it('405 for other methods, preflight requests of other sites included', async () => {
    for (const method of ['PUT', 'OPTIONS'] as const) {
      const { status, headers } = await open(linkTo(), { method })
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST'])
      expect(headers).not.toHaveProperty('access-control-allow-origin')
    }
  })

  it('runs no script, loads nothing, is kept nowhere, and tells nobody its address', async () => {
    const { headers, text } = await open(linkTo())
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(headers).toMatchObject({
      'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex, nofollow',
    })
    expect(headers).not.toHaveProperty('access-control-allow-origin')
    expect(text).not.toMatch(/<script|https?:|src=|href=/)
  })

  it('shows text as text', async () => {
    const { text } = await open(linkTo('<img src=x onerror=alert(1)>&"@outside.example'))
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;&amp;')
    expect(text).not.toContain('<img')
  })

  it('503 as a page while the request cannot be carried out, and works afterwards', async () => {
    const token = linkTo()
    gateway.behind.refusing.add('/internal/unsubscribe/confirm')
    const answer = await post(token)
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '60'])
    expect(answer.text).toContain('Please try again')
    gateway.behind.refusing.clear()
    expect((await post(token)).status).toBe(200)
  })

  it('404 for an unknown link, and 429 for a client that guesses; its valid links still work', async () => {
    const guesser = { 'x-forwarded-for': '198.51.100.7' }
    const guess = (token: string) => open(token, { headers: guesser })
    for (const token of ['', 'x', `${TOKEN}/..`]) {
      const { status, text } = await guess(token)
      expect(status).toBe(404)
      expect(text).toContain('This link does not work')
    }
    expect((await guess('y')).status).toBe(429)
    expect((await open(linkTo(), { headers: guesser })).status).toBe(200)
  })

  it('429 for too many requests with one link', async () => {
    const token = linkTo()
    for (let n = 0; n < 4; n++) expect((await open(token)).status).toBe(200)
    expect((await open(token)).status).toBe(429)
    expect((await open(linkTo())).status).toBe(200)
  })
})
