import { createHash, randomBytes } from 'node:crypto'
import type { SetupResult } from '@restante/contracts/internal'
import { request } from 'undici'
import { startGateway, type TestGateway } from '../gateway.ts'

type Returned = Extract<SetupResult, { readonly outcome: 'returned' }>

describe('the page that a browser comes back to from a DNS provider', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({
      RATE_LIMIT_FAILED_AUTHENTICATION: '3/h',
      RATE_LIMIT_EXEMPT_LOOPBACK: 'false',
      TRUSTED_PROXIES: '127.0.0.1',
    })
  })
  afterAll(() => gateway.stop())
  beforeEach(() => {
    gateway.behind.setups.clear()
    gateway.behind.refusing.clear()
  })

  const records: Returned['records'] = [
    { type: 'MX', name: 'example.com', status: 'VALID' },
    { type: 'TXT', name: 'svc1._domainkey.example.com', status: 'MISSING' },
    { type: 'TXT', name: '_dmarc.example.com', status: 'INVALID' },
  ]
  const valid = records.map((record) => ({ ...record, status: 'VALID' as const }))

  /** The state of a setup whose result is this. */
  function stateOf(result: Partial<Returned> | { readonly outcome: 'deleted' } = {}): string {
    const state = randomBytes(32).toString('base64url')
    const returned: Returned = { outcome: 'returned', domain: 'example.com', verified: false, records }
    gateway.behind.setups.set(state, result.outcome === 'deleted' ? result : { ...returned, ...result })
    return state
  }

  let clients = 0
  async function open(query: Record<string, string> | string, { method = 'GET', from = '' } = {}) {
    const search = typeof query === 'string' ? query : new URLSearchParams(query).toString()
    const client = from || `2001:db8:${(++clients).toString(16)}::1`
    const answer = await request(`${gateway.url}/domain-setup/return?${search}`, {
      method: method === 'GET' ? 'GET' : method === 'HEAD' ? 'HEAD' : 'POST',
      headers: { 'x-forwarded-for': client },
    })
    const text = await answer.body.text()
    const [, title] = /<h1>(.*)<\/h1>/.exec(text) ?? []
    return { status: answer.statusCode, headers: answer.headers, text, title }
  }

  it('lists what was found and what is missing, and says that checks go on', async () => {
    const { status, headers, text, title } = await open({ state: stateOf() })
    expect([status, headers['content-type'], title]).toEqual([
      200,
      'text/html; charset=utf-8',
      'Not all DNS records are visible yet',
    ])
    expect(text).toContain('1 of 3 DNS records of <strong>example.com</strong> were found.')
    expect(text).toContain('<b>Found</b>MX example.com')
    expect(text).toContain('<b>Not found</b>TXT svc1._domainkey.example.com')
    expect(text).toContain('<b>Has another value</b>TXT _dmarc.example.com')
    expect(text).toContain('Checks continue automatically')
  })

  it.each([
    ['that the domain is ready', { verified: true, records: valid }, 'Your domain is ready'],
    ['that all records are published', { records: valid }, 'All DNS records are published'],
  ])('says %s', async (_, result, expected) => {
    const { status, title, text } = await open({ state: stateOf(result) })
    expect([status, title]).toEqual([200, expected])
    expect(text).not.toContain('<li')
  })

  it.each([
    ['cancelled', { error: 'access_denied', error_description: 'user_cancel' }, 'You cancelled the change'],
    [
      'cancelled, with more words',
      { error: 'access_denied', error_description: 'user_cancelled: x' },
      'You cancelled the change',
    ],
    ['denied', { error: 'access_denied' }, 'Your DNS provider could not make the change'],
    [
      'failed',
      { error: 'server_error', error_description: 'user_cancel' },
      'Your DNS provider could not make the change',
    ],
    ['failed without a word', { error: '' }, 'Your DNS provider could not make the change'],
  ])('says what the provider reports, and what was found all the same: %s', async (_, report, expected) => {
    const { status, title, text } = await open({ state: stateOf(), ...report })
    expect([status, title]).toEqual([200, expected])
    expect(text).toContain('1 of 3 DNS records')
    expect(text).toContain('new setup link')
  })

  it('believes DNS, and not the provider that reports a failure', async () => {
    const query = { error: 'access_denied', error_description: 'user_cancel' }
    const { title } = await open({ state: stateOf({ records: valid }), ...query })
    expect(title).toBe('All DNS records are published')
  })

  it('shows the known words for errors, and nothing else of the query', async () => {
    const known = await open({ state: stateOf(), error: 'temporarily_unavailable' })
    expect(known.text).toContain('The provider reported <code>temporarily_unavailable</code>.')
    const script = '<script>alert(1)</script>'
    const unknown = await open({ state: stateOf(), error: script, error_description: script, domain: script })
    expect(unknown.title).toBe('Your DNS provider could not make the change')
    expect(unknown.text).not.toMatch(/alert|script/)
    expect(unknown.text).not.toContain('reported')
  })

  it('shows text as text', async () => {
    const name = '<img src=x onerror=alert(1)>&'
    const { text } = await open({
      state: stateOf({ domain: name, records: [{ type: 'MX', name, status: 'MISSING' }] }),
    })
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;&amp;')
    expect(text).not.toContain('<img')
  })

  it.each([
    ['altered', () => randomBytes(32).toString('base64url')],
    ['missing', () => ''],
    ['of another form', () => `${'a'.repeat(43)}'--`],
    ['long', () => 'a'.repeat(3_000)],
  ])('404 for a state that is %s, which reveals nothing', async (_, made) => {
    stateOf()
    const { status, text, title } = await open({ state: made(), error: 'server_error' })
    expect([status, title]).toEqual([404, 'This page is no longer valid'])
    expect(text).not.toMatch(/example\.com|server_error/)
    expect(gateway.behind.setups.size).toBe(1)
  })

  it('404 when it is opened a second time', async () => {
    const state = stateOf()
    expect((await open({ state })).status).toBe(200)
    expect((await open({ state })).title).toBe('This page is no longer valid')
  })

  it('410 when the domain was deleted since', async () => {
    const { status, title } = await open({ state: stateOf({ outcome: 'deleted' }) })
    expect([status, title]).toEqual([410, 'This domain was deleted'])
  })

  it('503 as a page while the result cannot be determined, and works when it is reloaded', async () => {
    const state = stateOf()
    gateway.behind.refusing.add('/internal/domains/complete-setup')
    const { status, headers, title } = await open({ state })
    expect([status, headers['retry-after'], title]).toEqual([503, '60', 'Please reload in a minute'])
    gateway.behind.refusing.clear()
    expect((await open({ state })).status).toBe(200)
  })

  it.each(['HEAD', 'POST'])('405 for %s, which leaves the state', async (method) => {
    const state = stateOf()
    const { status, headers } = await open({ state }, { method })
    expect([status, headers['allow']]).toEqual([405, 'GET'])
    expect((await open({ state })).status).toBe(200)
  })

  it('429 for a client that guesses states; a valid one still works for it', async () => {
    const from = '198.51.100.9'
    const guess = () => open({ state: randomBytes(32).toString('base64url') }, { from })
    for (let tries = 0; tries < 3; tries++) expect((await guess()).status).toBe(404)
    expect((await guess()).status).toBe(429)
    expect((await open({ state: stateOf() }, { from })).status).toBe(200)
  })

  it('runs no script, loads nothing, holds no form, is kept nowhere, and tells nobody its address', async () => {
    const { headers, text } = await open({ state: stateOf() })
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(headers).toMatchObject({
      'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex, nofollow',
    })
    expect(headers).not.toHaveProperty('access-control-allow-origin')
    expect(headers).not.toHaveProperty('set-cookie')
    expect(text).not.toMatch(/<script|<form|https?:|src=|href=/)
  })
})
