import { randomUUID } from 'node:crypto'
import { type EventOf, type Topic, topics } from '@restante/contracts/events'
import { recordOf } from '@restante/messaging/testing'
import { waitFor } from '@restante/testkit'
import { execute } from '../../src/admin/program.ts'
import { storesOf } from '../admin/stores.ts'
import { startGateway, type TestGateway } from '../gateway.ts'

type Event = EventOf<Topic<'apps.accounts'>>

describe('the audit log of sign-ins', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  const topic = topics['apps.accounts']
  async function publish(...events: Event[]): Promise<void> {
    const { kafka } = gateway.topics
    const producer = kafka.producer()
    await producer.connect()
    await producer.send({ topic: kafka.physical(topic.name), messages: events.map(recordOf) })
    await producer.disconnect()
  }

  it('has each step and each status that a key set, once however often an event comes, and no account states', async () => {
    const inbox = { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID() }
    const [app_id, account_id, key] = [randomUUID(), randomUUID(), randomUUID()]
    const client = { app_id, client_id: app_id }
    const atSecond = (second: number) => new Date(Date.UTC(2026, 10, 26, 12, 0, second)).toISOString()
    const attempt = (second: number) => ({ ...inbox, ...client, transaction: 'tx', at: atSecond(second) })
    const moment = { time: new Date() }
    const events: Event[] = [
      topic.event('sign_in.approved', { ...attempt(1), credential_id: key, by: 'sign_in_key' }, moment),
      topic.event('sign_in.approved', { ...attempt(2), by: 'owner' }, moment),
      topic.event('sign_in.refused', { ...attempt(3), reason: 'account_disabled' }, moment),
      topic.event('sign_in.completed', { ...attempt(4), credential_id: key, account_id, scopes: ['openid'] }, moment),
      topic.event(
        'account.changed',
        {
          ...{ ...inbox, account_id, ...client, version: 1, status: 'enabled', sign_in_count: 1 },
          ...{ first_signed_in_at: atSecond(4), last_signed_in_at: atSecond(4) },
        },
        moment,
      ),
      ...(['disabled', 'enabled'] as const).map((status, index) =>
        topic.event(
          'account.status_changed',
          { ...inbox, account_id, ...client, status, credential_id: key, at: atSecond(5 + index) },
          moment,
        ),
      ),
    ]
    await publish(...events, ...events)
    const where = { organizationId: inbox.organization_id }
    const entries = () => gateway.db.orm.auditEntry.findMany({ where, orderBy: { at: 'asc' } })
    await waitFor(async () => (await entries()).length >= 6, { what: 'the entries' })
    // The key orders the events of an inbox: what follows the copies is handled after them.
    const last = topic.event('sign_in.refused', { ...attempt(9), reason: 'expired' }, moment)
    await publish(last)
    await waitFor(async () => (await entries()).at(-1)?.at.toISOString() === atSecond(9), { what: 'the last entry' })
    const recorded = await entries()
    expect(recorded.map(({ action, actorKind, actorId }) => [action, actorKind, actorId])).toEqual([
      ['sign_in.approved', 'credential', key],
      ['sign_in.approved', 'system', 'sign-in'],
      ['sign_in.refused', 'system', 'sign-in'],
      ['sign_in.completed', 'credential', key],
      ['account.disabled', 'credential', key],
      ['account.enabled', 'credential', key],
      ['sign_in.refused', 'system', 'sign-in'],
    ])
    expect(recorded[3]).toMatchObject({
      podId: inbox.pod_id,
      inboxUid: inbox.inbox_uid,
      credentialId: null,
      details: { after: { ...client, transaction: 'tx', account_id, scopes: ['openid'] } },
    })

    const printed: string[] = []
    const words = ['audit', '--organization', inbox.organization_id]
    const print = (line: string) => void printed.push(line)
    const console = { ...storesOf(gateway), print, say: print, ask: async () => undefined }
    expect(await execute(console, words)).toBe(0)
    expect(printed.join('\n')).toMatch(/sign_in\.refused +system sign-in .*reason account_disabled/)
  })
})
