import { randomUUID } from 'node:crypto'
import { useSystem } from '../support/suite.ts'
import { openToolClient, type ToolAnswer } from './client.ts'

describe('calls of tools that the API refuses', () => {
  const system = useSystem()

  it('fail with the error of the API as document, and its message and advice as text', async () => {
    const { inboxId } = await system.tenant.client.inboxes.create({})
    const tools = system.cleanUp(await openToolClient(system.endpoints, system.tenant.key))
    const narrow = await system.tenant.api.post('/v0/api-keys', { permissions: { inbox_read: true } })
    const restricted = system.cleanUp(await openToolClient(system.endpoints, String(narrow.body['api_key'])))
    const threadId = randomUUID()
    const failures: readonly (readonly [status: number, code: string, attempt: () => Promise<ToolAnswer>])[] = [
      [404, 'not_found', () => tools.attempt('get_thread', { inboxId, threadId })],
      [404, 'not_found', () => tools.attempt('get_message', { inboxId, messageId: '<none@x.test>' })],
      [403, 'missing_permission', () => restricted.attempt('send_message', { inboxId, to: ['a@b.test'], text: 'x' })],
      [400, 'validation_error', () => tools.attempt('list_messages', { inboxId, limit: 'many' })],
      [400, 'validation_error', () => tools.attempt('list_messages', { inboxId, before: 'yesterday' })],
      [400, 'validation_error', () => tools.attempt('send_message', { inboxId, to: ['no address'], text: 'x' })],
      [
        400,
        'validation_error',
        () => tools.attempt('wait_for_message', { inboxId, after: 'no cursor', waitSeconds: 0 }),
      ],
    ]
    for (const [status, code, attempt] of failures) {
      const { isError, structuredContent, content } = await attempt()
      expect([status, isError, structuredContent['code']]).toEqual([status, true, code])
      const { message, fix } = structuredContent
      expect(content).toContain(String(message))
      if (fix !== undefined) expect(content).toContain(String(fix))
    }
    const { structuredContent } = await tools.attempt('get_thread', { inboxId, threadId })
    const { body } = await system.tenant.api.get(`/v0/inboxes/${encodeURIComponent(inboxId)}/threads/${threadId}`)
    expect(structuredContent).toEqual(body)
  })
})
