import type { Caller } from '@restante/contracts/access'
import {
  callerHeaders,
  callerOf,
  deliveredEvent,
  GATEWAY_KEYS,
  type InboxScope,
  inboxDeletedEvent,
  organizationTakenOverEvent,
  podDeletedEvent,
  receivedEvent,
} from '@restante/testkit'
import { cursorScope } from '../../src/cursors/caller-cursors.ts'
import { callerWith, startFanout, type Tenant, type TestFanout } from '../fanout.ts'
import { deliver, idsOf, poll, waiting } from './polling.ts'

let fanout: TestFanout
let tenant: Tenant
let pod: string
let inbox: InboxScope
let beside: InboxScope
beforeAll(async () => {
  fanout = await startFanout()
  tenant = await fanout.tenant()
  pod = await fanout.gateway.addPod(tenant)
  inbox = await fanout.gateway.addInbox(tenant, pod)
  beside = await fanout.gateway.addInbox(tenant, pod)
})
afterAll(() => fanout.stop())

const prefixOf = ({ address }: InboxScope) => `/inboxes/${encodeURIComponent(address)}`
const cursorAt = async (prefix: string, secret = tenant.key) => (await poll(fanout, { secret, prefix })).body.cursor

/** Status, code and message of an answer. */
const refusal = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
  status,
  body['code'],
  body['message'],
]

/** The events that a poll returns under each prefix for a key; they happened between its polls. */
async function given(secret: string, prefixes: readonly string[], happen: () => Promise<void>): Promise<unknown[][]> {
  const cursors = await Promise.all(prefixes.map((prefix) => cursorAt(prefix, secret)))
  await happen()
  const answers = await Promise.all(
    prefixes.map((prefix, index) =>
      poll(fanout, { secret, prefix }, { cursor: cursors[index] ?? '', wait: '0', event_types: 'message.received' }),
    ),
  )
  return answers.map(({ body }) => idsOf(body.events))
}

describe('the scope of a poll', () => {
  it('is the pod or inbox of its path, within what the key reaches', async () => {
    const [own, next, elsewhere] = [receivedEvent(inbox), receivedEvent(beside), receivedEvent(tenant.inbox)]
    const podKey = await fanout.key(tenant, { prefix: `/pods/${pod}` })
    const inboxKey = await fanout.key(tenant, { prefix: prefixOf(inbox) })
    const [ofPod, ofInbox] = [`/pods/${pod}`, prefixOf(inbox)]
    const happen = () => deliver(fanout, tenant, own, next, elsewhere)
    expect(await given(tenant.key, ['', ofPod, ofInbox], happen)).toEqual([
      [own.id, next.id, elsewhere.id],
      [own.id, next.id],
      [own.id],
    ])
    const [again, nextAgain] = [receivedEvent(inbox), receivedEvent(beside)]
    const repeat = () => deliver(fanout, tenant, again, nextAgain)
    expect(await given(podKey.secret, ['', ofPod, ofInbox], repeat)).toEqual([
      [again.id, nextAgain.id],
      [again.id, nextAgain.id],
      [again.id],
    ])
    const last = receivedEvent(inbox)
    const end = () => deliver(fanout, tenant, last, receivedEvent(beside))
    expect(await given(inboxKey.secret, ['', ofInbox], end)).toEqual([[last.id], [last.id]])
  })

  it('has the default types where none are named, and those of the key alone', async () => {
    const cursor = await cursorAt(prefixOf(inbox))
    const [plain, spam, delivered] = [
      receivedEvent(inbox),
      receivedEvent(inbox, { labels: ['spam'] }),
      deliveredEvent(inbox),
    ]
    await deliver(fanout, tenant, plain, spam, delivered)
    const target = { secret: tenant.key, prefix: prefixOf(inbox) }
    expect(idsOf((await poll(fanout, target, { cursor, wait: '0' })).body.events)).toEqual([plain.id, delivered.id])
    const blind = { ...target, secret: (await fanout.key(tenant, { permissions: ['inbox_read'] })).secret }
    expect((await poll(fanout, blind, { cursor, wait: '0' })).body.events).toEqual([])
  })

  it('lets it wait through the events of other inboxes until one of its own comes', async () => {
    const target = { secret: tenant.key, prefix: prefixOf(inbox) }
    const answer = poll(fanout, target, { cursor: await cursorAt(prefixOf(inbox)) })
    await waiting(1)
    await deliver(fanout, tenant, receivedEvent(beside), receivedEvent(tenant.inbox))
    await waiting(1)
    const own = receivedEvent(inbox)
    await fanout.publish(own)
    expect(idsOf((await answer).body.events)).toEqual([own.id])
  })
})

describe('a poll under a prefix is refused', () => {
  it('404 for a pod or inbox that does not exist, or that the key does not reach', async () => {
    const stranger = await fanout.tenant()
    const podKey = await fanout.key(tenant, { prefix: `/pods/${tenant.id}` })
    for (const [prefix, secret, what] of [
      [prefixOf(stranger.inbox), tenant.key, 'Inbox'],
      [`/pods/${stranger.id}`, tenant.key, 'Pod'],
      [prefixOf(inbox), podKey.secret, 'Inbox'],
      [`/pods/${pod}`, podKey.secret, 'Pod'],
    ] as const) {
      expect(refusal(await poll(fanout, { secret, prefix }))).toEqual([404, 'not_found', `${what} not found`])
    }
  })

  it('403 for the pod of an inbox, to the key of the inbox', async () => {
    const { secret } = await fanout.key(tenant, { prefix: prefixOf(inbox) })
    expect(refusal(await poll(fanout, { secret, prefix: `/pods/${pod}` })).slice(0, 2)).toEqual([403, 'forbidden'])
  })
})

describe('the cursor of a poll', () => {
  it('is valid in its scope, for every key that reaches it, and in no other', async () => {
    const inboxKey = await fanout.key(tenant, { prefix: prefixOf(inbox) })
    const podKey = await fanout.key(tenant, { prefix: `/pods/${pod}` })
    const targets = [
      [{ secret: tenant.key }],
      [{ secret: tenant.key, prefix: `/pods/${pod}` }, { secret: podKey.secret }],
      [{ secret: tenant.key, prefix: prefixOf(inbox) }, { secret: inboxKey.secret }],
      [{ secret: tenant.key, prefix: prefixOf(beside) }],
    ]
    for (const [issued, scope] of targets.entries()) {
      for (const issuer of scope) {
        const { cursor } = (await poll(fanout, issuer)).body
        for (const [used, others] of targets.entries()) {
          for (const target of others) {
            const { status } = await poll(fanout, target, { cursor, wait: '0' })
            expect([issued, used, status]).toEqual([issued, used, issued === used ? 200 : 400])
          }
        }
      }
    }
  })

  it('of earlier releases is valid for the same scopes: their names do not change', () => {
    const { organization_id: id, credential } = callerOf()
    const [uid, podId] = [inbox.inboxUid, inbox.podId]
    const row = { uid, address: inbox.address, pod_id: podId, paused: false }
    const scopeOf = (tier: 'organization' | 'pod' | 'inbox', more: Partial<Caller> = {}) =>
      cursorScope(callerOf({ organization_id: id, credential: { ...credential, tier }, ...more }))
    expect(scopeOf('organization')).toBe(`["${id}",0,"organization",""]`)
    expect(scopeOf('organization', { take_overs: 2 })).toBe(`["${id}",2,"organization",""]`)
    expect(scopeOf('pod', { pod_id: podId })).toBe(`["${id}",0,"pod","${podId}"]`)
    expect(scopeOf('inbox', { pod_id: podId, inbox: row })).toBe(`["${id}",0,"inbox","${uid}"]`)
  })
})

describe('the end of what a waiting poll is about', () => {
  /** The answer to a poll of the fan-out that waits while an event is published. */
  async function endedBy(caller: Caller, event: Parameters<TestFanout['tell']>[0]): Promise<unknown[]> {
    const headers = callerHeaders('websocket-fanout', GATEWAY_KEYS.caller, 'stream.poll', caller)
    const url = `http://127.0.0.1:${fanout.port}/stream/poll`
    const { cursor }: { cursor: string } = JSON.parse(await (await fetch(url, { headers })).text())
    const answer = fetch(`${url}?cursor=${cursor}&wait=20`, { headers })
    await waiting(1)
    await fanout.tell(event)
    const { status } = await answer
    return refusal({ status, body: JSON.parse(await (await answer).text()) })
  }

  async function callers(prefix: string, scope: Partial<Caller>, tier: 'pod' | 'inbox') {
    const wide = { ...callerWith(tenant, await fanout.key(tenant)), ...scope }
    const narrow = await fanout.key(tenant, { prefix })
    return { wide, own: { ...wide, credential: { ...wide.credential, id: narrow.id, tier } } }
  }

  it('404 to a wider key of a deleted inbox or pod, 401 to its own key', async () => {
    const gone = await fanout.gateway.addInbox(tenant, pod)
    const row = { uid: gone.inboxUid, address: gone.address, pod_id: pod, paused: false }
    const ofInbox = await callers(prefixOf(gone), { pod_id: pod, inbox: row }, 'inbox')
    expect(await endedBy(ofInbox.wide, inboxDeletedEvent(gone))).toEqual([404, 'not_found', 'Inbox not found'])
    expect((await endedBy(ofInbox.own, inboxDeletedEvent(gone))).slice(0, 2)).toEqual([401, 'unknown_api_key'])
    const emptied = await fanout.gateway.addPod(tenant)
    const ofPod = await callers(`/pods/${emptied}`, { pod_id: emptied }, 'pod')
    expect(await endedBy(ofPod.wide, podDeletedEvent(tenant.id, emptied))).toEqual([404, 'not_found', 'Pod not found'])
    expect((await endedBy(ofPod.own, podDeletedEvent(tenant.id, emptied))).slice(0, 2)).toEqual([
      401,
      'unknown_api_key',
    ])
  })

  it('does not end the polls of other inboxes, and of wider scopes', async () => {
    const gone = await fanout.gateway.addInbox(tenant, pod)
    const prefixes = ['', `/pods/${pod}`, prefixOf(inbox)]
    const answers = await Promise.all(
      prefixes.map(async (prefix) => ({
        answer: poll(fanout, { secret: tenant.key, prefix }, { cursor: await cursorAt(prefix) }),
      })),
    )
    await waiting(3)
    await fanout.tell(inboxDeletedEvent(gone))
    const event = receivedEvent(inbox)
    await fanout.log(event)
    for (const { answer } of answers) expect(idsOf((await answer).body.events)).toEqual([event.id])
  })

  it('404 where the gateway has deleted the inbox and its event has not come', async () => {
    const gone = await fanout.gateway.addInbox(tenant, pod)
    const target = { secret: tenant.key, prefix: prefixOf(gone) }
    const answer = poll(fanout, target, { cursor: await cursorAt(prefixOf(gone)), wait: '3' })
    await waiting(1)
    await fanout.gateway.request(tenant.key, 'DELETE', `/v0${prefixOf(gone)}`)
    expect(refusal(await answer)).toEqual([404, 'not_found', 'Inbox not found'])
  })

  it('401 to every earlier key when the organization is taken over', async () => {
    const other = await fanout.tenant()
    const { inboxUid: uid, address, podId } = other.inbox
    const caller = callerWith(other, await fanout.key(other))
    const row = { uid, address, pod_id: podId, paused: false }
    const event = organizationTakenOverEvent(other.id)
    expect((await endedBy({ ...caller, pod_id: podId, inbox: row }, event)).slice(0, 2)).toEqual([
      401,
      'unknown_api_key',
    ])
  })
})
