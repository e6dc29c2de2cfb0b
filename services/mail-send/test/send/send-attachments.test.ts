import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { countRows, freePort, waitFor } from '@restante/testkit'
import { fetchedName } from '../../src/sending/content/fetched-name.ts'
import { type Answer, type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'
import { listenOn } from '../support/listen.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld({ ATTACHMENT_TIMEOUT: '5m' })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

function someone(): string {
  return `ann-${randomUUID().slice(0, 8)}@outside.example`
}

type SendingCaller = ReturnType<typeof inboxCaller>

function send(caller: SendingCaller, body: unknown, key?: string): Promise<Answer> {
  return fixture.call('messages.send', caller, { path: '/messages/send', body, ...(key !== undefined && { key }) })
}

describe('messages.send with attachments: 200', () => {
  it('sends attachments given as content and by URL', async () => {
    const files = createServer((_request, response) => {
      response.setHeader('content-type', 'image/png; charset=binary')
      response.end('from the web')
    })
    const port = await listenOn(files)
    const to = someone()
    const answer = await send(inboxCaller(), {
      to,
      html: '<img src="cid:logo">',
      attachments: [
        { filename: 'note.txt', content: Buffer.from('inline bytes').toString('base64') },
        { url: `http://127.0.0.1:${port}/logo`, content_id: '<logo>' },
        { url: `http://127.0.0.1:${port}/data`, filename: 'chart.unknown' },
        { url: `http://127.0.0.1:${port}/data`, filename: 'page.html' },
      ],
    })
    files.close()
    expect(answer.status).toBe(200)
    const { parsed } = await fixture.outside.next(to)
    expect(
      parsed.attachments.map(({ filename, contentType, contentDisposition, cid, content }) => ({
        filename,
        contentType,
        contentDisposition,
        cid,
        content: content.toString(),
      })),
    ).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ filename: 'note.txt', contentType: 'text/plain', content: 'inline bytes' }),
        expect.objectContaining({
          filename: 'logo',
          contentType: 'image/png',
          contentDisposition: 'inline',
          cid: 'logo',
          content: 'from the web',
        }),
        expect.objectContaining({ filename: 'chart.unknown', contentType: 'image/png' }),
        expect.objectContaining({ filename: 'page.html', contentType: 'text/html' }),
      ]),
    )
  })
})

describe('the name of a fetched file', () => {
  it.each([
    ['https://x.test/files/report.pdf?download=1', undefined, 'report.pdf'],
    ['https://x.test/files/Jahr%202026%20%C3%BC.pdf#page', undefined, 'Jahr 2026 ü.pdf'],
    ['https://x.test/files/%E0%A4%A', undefined, '%E0%A4%A'],
    ['https://x.test/a/', undefined, undefined],
    ['https://x.test', undefined, undefined],
    ['https://x.test/get', 'attachment; filename="in voice.pdf"', 'in voice.pdf'],
    ['https://x.test/get', "attachment; filename=a.pdf; filename*=UTF-8''%E2%82%AC.pdf", '€.pdf'],
    ['https://x.test/get', 'inline', 'get'],
    ['https://x.test/get', 'not; a = header', 'get'],
    ['https://x.test/get', 'attachment; filename="../../etc/passwd"', 'passwd'],
    ['https://x.test/get', 'attachment; filename="C:\\\\dir\\\\run.exe"', 'run.exe'],
    ['https://x.test/get', 'attachment; filename=".."', 'get'],
    ['https://x.test/%2e%2e%2fetc%2fpasswd', undefined, 'passwd'],
    ['https://x.test/a%E2%80%AEgpj%0D%0A.exe', undefined, 'agpj.exe'],
    ['https://x.test/a%E2%80%A8b%E2%80%A9.pdf', undefined, 'ab.pdf'],
    ['https://x.test/get', "attachment; filename*=UTF-8''a%E2%80%A8.pdf", 'a.pdf'],
    ['https://x.test/%E2%80%A8', undefined, undefined],
    [`https://x.test/${'n'.repeat(300)}.pdf`, undefined, `${'n'.repeat(251)}.pdf`],
  ])('of %s with %j is %j', (url, disposition, name) => {
    expect(fetchedName(url, disposition)).toBe(name)
  })
})

it('sends other large mail while attachments come slowly', async () => {
  const asked: ServerResponse[] = []
  let isSlow = true
  const slow = createServer((_request, response) => {
    if (isSlow) asked.push(response)
    else response.end('fast')
  })
  const port = await listenOn(slow)
  const large = Buffer.alloc(4_000_000, 'file').toString('base64')
  const file = { filename: 'file.bin', content: large }
  // Three of them are more than may be processed at once.
  const one = () => send(inboxCaller(), { to: someone(), attachments: [file, { url: `http://127.0.0.1:${port}/` }] })
  const waiting = Array.from({ length: 3 }, async () => {
    let answer = await one()
    // They come back together, and each waits for its turn: on a busy machine longer than a request does.
    while (answer.status === 503) answer = await one()
    return answer
  })
  await waitFor(() => asked.length === 3, { what: 'all three to ask for their files' })
  const other = await send(inboxCaller(), { to: someone(), attachments: [file] })
  isSlow = false
  for (const response of asked) response.end('slow')
  expect(other.status).toBe(200)
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200])
  slow.close()
})

describe('messages.send with attachments: 403', () => {
  it.each([
    ['a server that says no', 404],
    ['a server that says gone', 410],
  ])('refuses an attachment URL of %s', async (_what, status) => {
    const answer = await withServer(status, (url) => send(inboxCaller(), { to: someone(), attachments: [{ url }] }))
    expect(answer).toMatchObject({ status: 403, body: { code: 'message_rejected' } })
  })

  it('refuses an attachment URL on a private network', async () => {
    const url = 'http://169.254.169.254/latest/meta-data'
    const answer = await send(inboxCaller(), { to: someone(), attachments: [{ url }] })
    expect(answer).toMatchObject({ status: 403, body: { code: 'message_rejected' } })
  })
})

describe('messages.send with attachments: 503', () => {
  it.each([408, 429, 500, 502])('asks to retry later when an attachment URL answers %i', async (status) => {
    const caller = inboxCaller()
    const answer = await withServer(status, (url) =>
      send(caller, { to: someone(), attachments: [{ url }] }, randomUUID()),
    )
    expect(answer).toMatchObject({
      status: 503,
      body: {
        code: 'service_unavailable',
        message: 'Service temporarily unavailable',
        fix: expect.stringContaining(`Attachment 0 could not be fetched: its server answered ${status}. `),
      },
    })
    expect(answer.headers.get('retry-after')).toBe('1')
    for (const table of ['sends', 'idempotency_keys'])
      expect(await countRows(fixture.db, `${table} where organization_id = $1`, caller.organization_id)).toBe(0)
  })

  it('asks to retry later when an attachment takes too long', async () => {
    const hasty = await startWorld({ ATTACHMENT_TIMEOUT: '1s' })
    const server = createServer(() => {})
    const attachments = [{ url: `http://127.0.0.1:${await listenOn(server)}/` }]
    const body = { to: someone(), attachments }
    const answer = await hasty.call('messages.send', inboxCaller(), { path: '/messages/send', body })
    server.closeAllConnections()
    server.close()
    await hasty.stop()
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } })
  })

  it('asks to retry later when an attachment URL is unreachable', async () => {
    const url = `http://127.0.0.1:${await freePort()}/`
    const answer = await send(inboxCaller(), { to: someone(), attachments: [{ url }] })
    expect(answer).toMatchObject({
      status: 503,
      body: { code: 'service_unavailable', fix: expect.stringContaining('with a network error: ECONNREFUSED. Repeat') },
    })
  })
})

async function withServer<T>(status: number, work: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((_request, response) => {
    response.statusCode = status
    response.end('no')
  })
  const port = await listenOn(server)
  try {
    return await work(`http://127.0.0.1:${port}/file`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
