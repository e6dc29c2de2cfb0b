import { slowRequest } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'
import { pathOf, receiveMail } from '../mailbox-fixture.ts'

describe('an update of labels with a slow body', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.stop())

  async function asOwner(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${fixture.gatewayUrl}/v0${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>)
  }

  it.each([
    ['401 when the key was deleted meanwhile', true, 401, ['received', 'unread']],
    ['200 when the key still holds', false, 200, ['received', 'unread', 'late']],
  ])('%s', async (_title, deleted, status, labels) => {
    const inbox = await fixture.inbox()
    const id = await receiveMail(fixture, inbox)
    const made = await asOwner('POST', '/api-keys', {})
    const url = `${fixture.gatewayUrl}/v0/inboxes/${inbox.address}${pathOf(id)}`
    const headers = { authorization: `Bearer ${made['api_key']}` }
    const finish = await slowRequest('PATCH', url, headers, { add_labels: ['late'] })
    if (deleted) await asOwner('DELETE', `/api-keys/${made['api_key_id']}`)
    expect((await finish()).status).toBe(status)
    const read = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))
    expect(read.body.labels).toEqual(labels)
  })
})
