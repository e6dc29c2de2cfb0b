import { ApiError } from '@restante/service/errors'
import { type ScriptedApi, scriptedApi } from '../support/scripted-api.ts'

describe('the path of a request', () => {
  const paths: string[] = []
  let scripted: ScriptedApi

  beforeAll(async () => {
    scripted = await scriptedApi(({ url = '' }) => void paths.push(url))
  })
  beforeEach(() => paths.splice(0))
  afterAll(() => scripted.close())

  it.each(['.', '..', '', 'a\0b', '\ud800'])('is not written with %j in place of an id', async (id) => {
    const deletion = scripted.api.call('threads.delete', { inboxId: 'a@b.example', params: { thread_id: id } })
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
    await scripted.api.call('threads.delete', { inboxId: 'a@b.example', params: { thread_id: id } })
    expect(paths).toEqual([`/v0/inboxes/a%40b.example/threads/${segment}`])
  })
})
