import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError } from '@restante/service/errors'
import { Agent } from 'undici'
import { Api } from '../../src/api/api.ts'

describe('the path of a request', () => {
  const paths: string[] = []
  let server: Server
  let api: Api
  const dispatcher = new Agent()

  beforeAll(async () => {
    server = createServer((request, response) => {
      paths.push(request.url ?? '')
      response.statusCode = 204
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { signal } = new AbortController()
    api = new Api({
      dispatcher,
      url: `http://127.0.0.1:${port}`,
      authorization: 'Bearer key',
      requestId: 'test',
      signal,
    })
  })

  beforeEach(() => paths.splice(0))

  afterAll(async () => {
    await dispatcher.close()
    await new Promise((resolve) => server.close(resolve))
  })

  it.each(['.', '..', '', 'a\0b', '\ud800'])('is not written with %j in place of an id', async (id) => {
    const deletion = api.call('threads.delete', { inboxId: 'a@b.example', params: { thread_id: id } })
    await expect(deletion).rejects.toThrow(ApiError)
    await expect(deletion).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('threadId') })
    expect(paths).toEqual([])
  })

  it.each([
    ['../drafts', '..%2Fdrafts'],
    ['%2e%2e', '%252e%252e'],
    ['a?b#c', 'a%3Fb%23c'],
    ['...', '...'],
    ['<a/b@x.example>', '%3Ca%2Fb%40x.example%3E'],
  ])('holds %j as one segment', async (id, segment) => {
    await api.call('threads.delete', { inboxId: 'a@b.example', params: { thread_id: id } })
    expect(paths).toEqual([`/v0/inboxes/a%40b.example/threads/${segment}`])
  })
})
