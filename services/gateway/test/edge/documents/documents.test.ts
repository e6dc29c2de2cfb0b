import { gunzipSync } from 'node:zlib'
import { ERRORS, errorDocs } from '@restante/contracts/vocabulary'
import { request } from 'undici'
import { GUIDES, PAGES } from '../../../src/edge/documents/library/catalog.ts'
import { PUBLIC_URL, startGateway, type TestGateway } from '../../gateway.ts'
import { BROWSER, read, walk } from './links.ts'

describe('documents', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ DOCS_URL: `${PUBLIC_URL}/docs` })
  })
  afterAll(() => gateway.stop())

  it.each(PAGES.map(({ name, title }) => [name, title] as const))(
    'serves %s as HTML and, under two addresses, as Markdown',
    async (name) => {
      const html = await read(gateway.url, `/docs/${name}`, { accept: BROWSER })
      const twin = await read(gateway.url, `/docs/${name}.md`)
      const negotiated = await read(gateway.url, `/docs/${name}`, { accept: 'text/markdown, text/html, */*' })
      expect([html.status, html.type]).toEqual([200, 'text/html; charset=utf-8'])
      expect([twin.status, twin.type]).toEqual([200, 'text/markdown; charset=utf-8'])
      expect(negotiated).toEqual(twin)
      expect(html.text).toContain(`<link rel="alternate" type="text/markdown" href="/docs/${name}.md">`)
      const [, title = 'no title'] = /^# (.+)$/m.exec(twin.text) ?? []
      expect(html.text).toContain(`<h1>${title}</h1>`)
      for (const { text } of [html, twin]) expect(text).not.toMatch(/127\.0\.0\.1:3000|<!-- Generated/)
    },
  )

  it('lists every page for models, by complete addresses of its Markdown', async () => {
    const { status, type, text } = await read(gateway.url, '/llms.txt')
    expect([status, type]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(text).toMatch(/^# Restante\n\n> [^\n]+\n\n/)
    for (const { name, title } of PAGES) expect(text).toContain(`- [${title}](${PUBLIC_URL}/docs/${name}.md): `)
    expect(text).toContain(`MCP server: \`${PUBLIC_URL}/mcp\``)
    const others = text.split('\n').filter((line) => line.startsWith('- [') && !line.includes(`](${PUBLIC_URL}/`))
    expect(others).toEqual([])
  })

  it('tells models how to sign up only where that is possible', async () => {
    const closed = await gateway.another({ SIGN_UP: 'false' })
    const at = `http://127.0.0.1:${closed.port}`
    expect((await read(gateway.url, '/llms.txt')).text).toContain(`${PUBLIC_URL}/v0/agent/sign-up`)
    expect((await read(at, '/llms.txt')).text).not.toContain('sign-up')
    expect((await read(at, '/', { accept: 'text/html' })).text).not.toContain('sign-up')
  })

  it('joins the guides that are not optional', async () => {
    const { text } = await read(gateway.url, '/llms-full.txt')
    const titles = [...text.matchAll(/^# (.+)$/gm)].map(([, title]) => title)
    for (const { title, optional, name } of GUIDES) {
      if (name !== 'guarantees') expect(titles.includes(title)).toBe(optional !== true)
    }
  })

  it('has no link that leads nowhere, on any page that can be reached', async () => {
    const { seen, broken } = await walk(gateway.url, ['/llms.txt', '/docs', '/docs/api', '/docs/guide-agents'])
    expect(broken).toEqual([])
    for (const { name } of PAGES) expect(seen.has(`/docs/${name}.md`)).toBe(true)
    expect([...seen.keys()].filter((path) => path.startsWith('/docs/images/'))).toHaveLength(3)
  })

  it.each(Object.entries(ERRORS))(
    'explains %s at the address that the error itself names',
    async (code, { message }) => {
      const { pathname, hash } = new URL(errorDocs(`${PUBLIC_URL}/docs`, code as keyof typeof ERRORS))
      const { status, text } = await read(gateway.url, pathname)
      expect([status, text.includes(` id="${hash.slice(1)}"`), hash]).toEqual([200, true, `#${code}`])
      const alone = await read(gateway.url, `/docs/errors/${code}`)
      expect([alone.status, alone.text.includes(`<h1>${code}</h1>`)]).toEqual([200, true])
      const twin = await read(gateway.url, `/docs/errors/${code}.md`)
      expect(twin.text.match(/^#+ .*$/gm)).toEqual([`# ${code}`])
      expect(twin.text).toContain(`: ${message}. Retry: `)
      expect(twin.text).toMatch(/^\*\*What to do\.\*\* \S/m)
      expect(twin.text).toMatch(/^\*\*Answered by\*\* \S/m)
    },
  )

  it('names that address in the body of an error', async () => {
    const { body } = await gateway.as().get('/v0/inboxes')
    expect(body['docs']).toBe(`${PUBLIC_URL}/docs/errors#missing_authorization`)
  })

  it.each([
    '/docs/nothing',
    '/docs/nothing.md',
    '/docs/errors/nothing',
    '/docs/errors/not_found/x.md',
    '/docs/api/index.md',
    '/docs/images/trace.svg',
    '/docs/configuration.md',
    '/docs/guide-agents.md.md',
    '/docs/constructor',
  ])('404 for %s', async (path) => {
    const { status, text } = await read(gateway.url, path)
    expect([status, JSON.parse(text)]).toEqual([404, expect.objectContaining({ code: 'not_found' })])
  })

  it('allows pages neither scripts nor styles of others, and shows no Markdown as a tag', async () => {
    const { headers, body } = await request(`${gateway.url}/docs/guide-apps`)
    const text = await body.text()
    const policy = String(headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; form-action 'none'/)
    expect(text).not.toMatch(/<script|style="|<form/)
    expect(text).toContain('&lt;h1&gt;Signed in&lt;/h1&gt;')
  })

  it('sends pages compressed to those who take that, and says what they depend on', async () => {
    const ask = async (path: string, more: Record<string, string>) => {
      const { headers, body } = await request(`${gateway.url}${path}`, { headers: more })
      return { headers, bytes: Buffer.from(await body.arrayBuffer()) }
    }
    for (const [path, vary] of [
      ['/docs/guide-agents', 'Accept, Accept-Encoding'],
      ['/docs/guide-agents.md', 'Accept-Encoding'],
      ['/llms-full.txt', 'Accept-Encoding'],
    ] as const) {
      const gzipped = await ask(path, { 'accept-encoding': 'gzip' })
      const plain = await ask(path, {})
      expect([gzipped.headers['content-encoding'], gzipped.headers.vary, plain.headers.vary]).toEqual([
        'gzip',
        vary,
        vary,
      ])
      expect(gunzipSync(gzipped.bytes).equals(plain.bytes)).toBe(true)
    }
  })

  it('answers HEAD with the headers of GET', async () => {
    for (const path of ['/llms.txt', '/docs/domains', '/docs/domains.md', '/docs/errors/conflict']) {
      const [get, head] = await Promise.all(
        (['GET', 'HEAD'] as const).map(async (method) => {
          const { statusCode, headers, body } = await request(`${gateway.url}${path}`, { method })
          return {
            statusCode,
            length: headers['content-length'],
            type: headers['content-type'],
            text: await body.text(),
          }
        }),
      )
      expect(head).toEqual({ ...get, text: '' })
    }
  })
})
