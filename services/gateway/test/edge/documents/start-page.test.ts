import { createHash } from 'node:crypto'
import { waitFor } from '@restante/testkit'
import { request } from 'undici'
import { PUBLIC_URL, startGateway, type TestGateway } from '../../gateway.ts'
import { BROWSER, read, walk } from './links.ts'

describe('the start page', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  it('says to a browser what this is, whether it works, and where to go on', async () => {
    const { statusCode, headers, body } = await request(gateway.url, { headers: { accept: BROWSER } })
    const text = await body.text()
    expect([statusCode, headers['content-type'], headers.vary]).toEqual([200, 'text/html; charset=utf-8', 'Accept'])
    expect(text).toContain('<p class="state" role="status">Healthy</p>')
    expect(text).toContain(`${PUBLIC_URL}/mcp`)
    for (const path of ['/docs', '/docs/api', '/docs/errors', '/docs/guide-agents', '/openapi.json', '/llms.txt']) {
      expect(text).toContain(`href="${path}"`)
    }
    const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(text) ?? []
    expect(headers['content-security-policy']).toContain(createHash('sha256').update(style).digest('base64'))
    expect(text).not.toMatch(/<script|<form|<img|style="/)
  })

  it('leads nowhere that does not exist', async () => {
    const { seen, broken } = await walk(gateway.url, ['/'])
    expect(broken).toEqual([])
    expect(seen.size).toBeGreaterThan(60)
  })

  it.each([
    undefined,
    '*/*',
    'application/json',
    'application/json, text/html',
    'text/html;q=0.5, application/json',
    'text/html;q=0',
  ])('is not for programs: 404 with Accept: %s', async (accept) => {
    const answer = await request(gateway.url, accept === undefined ? {} : { headers: { accept } })
    expect([answer.statusCode, await answer.body.json()]).toEqual([
      404,
      expect.objectContaining({ code: 'not_found', message: 'Route not found' }),
    ])
    expect(answer.headers).not.toHaveProperty('vary')
  })

  it('answers HEAD as GET without a body, and no other method', async () => {
    const headers = { accept: BROWSER }
    const [get, head, post] = await Promise.all(
      (['GET', 'HEAD', 'POST'] as const).map((method) => request(gateway.url, { method, headers })),
    )
    expect([head?.statusCode, await head?.body.text()]).toEqual([200, ''])
    expect(head?.headers['content-length']).toBe(get?.headers['content-length'])
    expect(post?.statusCode).toBe(404)
    await Promise.all([get?.body.dump(), post?.body.dump()])
  })

  it('names captured mail only where the installation captures mail', async () => {
    const local = await gateway.another({ CAPTURED_MAIL_URL: 'http://127.0.0.1:1080' })
    const at = `http://127.0.0.1:${local.port}`
    expect((await read(at, '/', { accept: BROWSER })).text).toContain('<a href="http://127.0.0.1:1080">')
    expect((await read(gateway.url, '/', { accept: BROWSER })).text).not.toContain('captured')
  })

  it('says that parts are not available while it is not ready, without their names', async () => {
    const draining = await gateway.another()
    const shown = () => read(`http://127.0.0.1:${draining.port}`, '/', { accept: BROWSER })
    expect((await shown()).text).toContain('Healthy')
    draining.service.drain()
    const text = await waitFor(
      async () => {
        const { text: now } = await shown()
        return now.includes('Healthy') ? undefined : now
      },
      { what: 'the page to say that parts are not available' },
    )
    expect(text).toContain('Some parts are not available')
    expect(text).not.toMatch(/shutting down|postgres|kafka|redis/i)
  })
})
