import { randomUUID } from 'node:crypto'
import { type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startWorld()
})
afterAll(() => fixture.stop())

const ask = (mails: unknown, from: 'gateway' | 'mail-ingest' = 'mail-ingest') =>
  fixture.internal('mail-send.findListEntries', from, { mails })

describe('mail-send.findListEntries', () => {
  it('200: finds the entries of receive and reply lists as they are now, for each mail in order', async () => {
    const caller = inboxCaller()
    const { organization_id, inbox } = caller
    const scope = { organization_id, pod_id: inbox.pod_id, inbox_uid: inbox.uid }
    const params = (direction: string, type: string) => `/lists/${direction}/${type}`
    for (const [direction, type, entry] of [
      ['receive', 'block', 'ada@customer.test'],
      ['reply', 'allow', 'other.test'],
      ['send', 'block', 'ada@customer.test'],
    ] as const) {
      const request = { path: params(direction, type), body: { entry } }
      expect((await fixture.call('lists.create', caller, request)).status).toBeLessThan(300)
    }
    const other = { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID() }
    const names = ['ada@customer.test', 'customer.test']
    const { body } = await ask([
      { ...other, names },
      { ...scope, names },
    ])
    expect(body['mails']).toEqual([
      [],
      [
        { direction: 'receive', tier: 'inbox', type: 'block', entry: 'ada@customer.test' },
        { direction: 'reply', tier: 'inbox', type: 'allow' },
      ],
    ])
    const path = `${params('receive', 'block')}/${encodeURIComponent('ada@customer.test')}`
    expect((await fixture.call('lists.delete', caller, { method: 'DELETE', path })).status).toBeLessThan(300)
    const after = await ask([{ ...scope, names }])
    expect(after.body['mails']).toEqual([[{ direction: 'reply', tier: 'inbox', type: 'allow' }]])
  })

  it('401: is not for the gateway', async () => {
    const mail = { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID(), names: ['x'] }
    expect((await ask([mail], 'gateway')).status).toBe(401)
  })
})
