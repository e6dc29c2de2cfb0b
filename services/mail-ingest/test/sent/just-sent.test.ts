import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Caller } from '@restante/contracts/access'
import { internalOperations } from '@restante/contracts/internal'
import type { SentCopy } from '@restante/contracts/schemas'
import { callerOf, countRows, leastOf, underLoad, waitFor } from '@restante/testkit'
import { type Answer, type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail, sentCopy } from '../mailbox-fixture.ts'

const FIND = internalOperations['mail-send.findRecentSends']
const COPY = internalOperations['mail-send.getSentCopy']

/** mail-send on loopback: what it has sent, what it was asked, and whether it answers. */
const sent: SentCopy[] = []
let calls: string[] = []
let isSilent = false
let atOnce = { now: 0, most: 0 }
let mailSend: Server
let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  mailSend = createServer(async (request, response) => {
    const path = request.url ?? ''
    calls.push(path)
    atOnce = { now: atOnce.now + 1, most: Math.max(atOnce.most, atOnce.now + 1) }
    // Also when the caller gives up.
    response.once('close', () => {
      atOnce = { ...atOnce, now: atOnce.now - 1 }
    })
    const body = await json(request).catch(() => undefined)
    if (isSilent || body === undefined) return
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answerOf(path, body)))
  })
  await new Promise<void>((resolve) => {
    mailSend.listen(0, '127.0.0.1', resolve)
  })
  // A server that listens on a port has an address with one.
  const { port } = mailSend.address() as AddressInfo
  fixture = await openFixture({ MAIL_SEND_URL: `http://127.0.0.1:${port}` })
})
afterAll(async () => {
  await fixture.stop()
  mailSend.closeAllConnections()
  await new Promise((resolve) => {
    mailSend.close(resolve)
  })
})
beforeEach(async () => {
  inbox = await fixture.inbox()
  calls = []
  isSilent = false
})

function answerOf(path: string, body: unknown): object {
  if (path === COPY.path) {
    const { inbox_uid, message_ids } = COPY.body.parse(body)
    const copy = sent.find((one) => one.inbox_uid === inbox_uid && message_ids.includes(one.message_id))
    return { ...(copy && { copy }) }
  }
  const { messages, threads } = FIND.body.parse(body)
  const isWanted = (copy: SentCopy) =>
    messages.some(({ inbox_uid, message_id }) => copy.inbox_uid === inbox_uid && copy.message_id === message_id) ||
    threads.some(
      ({ organization_id, thread_id }) => copy.organization_id === organization_id && copy.thread_id === thread_id,
    )
  return { sends: sent.filter(isWanted) }
}

/** A message that mail-send has accepted and whose copy is not in its mailbox. */
async function justSent(more: Partial<SentCopy> = {}): Promise<SentCopy> {
  const copy = await sentCopy(fixture, inbox, more)
  sent.push(copy)
  return copy
}

const get = (id: string, caller = inbox.caller) => fixture.call(caller, 'messages.get', 'GET', pathOf(id))
const getThread = (id: string, caller: Caller) => fixture.call(caller, 'threads.get', 'GET', `/threads/${id}`)
/**
 * An answer, as soon as it has a status. mail-send has a second to tell of a message, which a machine that stands still
 * may use up.
 */
const until = (status: number, read: () => Promise<Answer>) =>
  waitFor(
    async () => {
      const answer = await read()
      return answer.status === status && answer
    },
    { what: `an answer with ${status}` },
  )
const madeId = (domain = 'mail.test') => `<${randomUUID()}@${domain}>`
const restricted = (caller: Caller): Caller => ({
  ...caller,
  credential: { ...caller.credential, permissions: ['message_read'] },
})

describe('a message that was just sent', () => {
  it('is found once, though its copy is not stored yet', async () => {
    const { message_id, thread_id } = await justSent()
    const [answer] = await Promise.all([1, 2, 3].map(() => until(200, () => get(message_id))))
    expect(answer?.body).toMatchObject({ message_id, thread_id, labels: ['sent', 'campaign'] })
    expect((await fixture.call(inbox.caller, 'messages.list', 'GET', '/messages')).body.count).toBe(1)
  })

  it('can be read raw, labelled and deleted; afterwards it stays deleted without a call to mail-send', async () => {
    const [read, labelled, deleted] = [await justSent(), await justSent(), await justSent()]
    await until(200, () => fixture.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(read.message_id)}/raw`))
    const body = { add_labels: ['vip'] }
    const update = await until(200, () =>
      fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(labelled.message_id), body),
    )
    expect(update.body.labels).toEqual(['sent', 'campaign', 'vip'])
    const remove = () => fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(deleted.message_id))
    await until(204, remove)
    calls = []
    expect((await remove()).status).toBe(404)
    expect((await get(deleted.message_id)).status).toBe(404)
    expect(calls).toEqual([])
  })

  it('is 404 for a key that may not see its labels, and mail-send is asked once', async () => {
    const { message_id, thread_id } = await justSent({ labels: ['spam'] })
    const caller = restricted(inbox.caller)
    await waitFor(
      async () => {
        expect((await get(message_id, caller)).status).toBe(404)
        return (await countRows(fixture.db, 'messages where message_id = $1', message_id)) > 0
      },
      { what: 'the copy to be placed' },
    )
    calls = []
    expect((await get(message_id, caller)).status).toBe(404)
    expect((await getThread(thread_id, caller)).status).toBe(404)
    expect(calls).toEqual([])
    expect((await get(message_id)).status).toBe(200)
  })

  it('is not found in another inbox', async () => {
    const { message_id } = await justSent()
    const other = await fixture.inbox()
    expect((await get(message_id, other.caller)).status).toBe(404)
  })

  it.each(['whole organization', 'pod', 'inbox'])('has its thread, in the scope of the %s', async (scope) => {
    const thread_id = randomUUID()
    await justSent({ thread_id })
    await justSent({ thread_id })
    const { organization_id, pod_id } = inbox
    const caller = { 'whole organization': callerOf({ organization_id }), pod: callerOf({ organization_id, pod_id }) }
    const reader = scope === 'inbox' ? inbox.caller : caller[scope as keyof typeof caller]
    const answer = await until(200, () => getThread(thread_id, reader))
    expect(answer.body).toMatchObject({ thread_id, message_count: 2 })
  })

  it('has no thread for another inbox or organization', async () => {
    const { thread_id } = await justSent()
    const other = await fixture.inbox()
    for (const caller of [other.caller, callerOf({ organization_id: randomUUID() })]) {
      expect((await getThread(thread_id, caller)).status).toBe(404)
    }
  })
})

describe('a missing message', () => {
  it.each([
    ['of another domain', madeId('customer.test')],
    ['that no service of ours makes', '<order-1@mail.test>'],
  ])('causes no call when its id is one %s', async (_which, id) => {
    expect((await get(id)).status).toBe(404)
    expect(calls).toEqual([])
  })

  it('causes no call when it is stored and invisible to the key', async () => {
    const id = await receiveMail(fixture, inbox)
    await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), { add_labels: ['trash'] })
    calls = []
    expect((await get(id, restricted(inbox.caller))).status).toBe(404)
    expect(calls).toEqual([])
  })

  it('causes at most two concurrent calls to mail-send, however many readers ask', async () => {
    atOnce = { now: 0, most: 0 }
    const answers = await Promise.all(Array.from({ length: 300 }, () => get(madeId())))
    expect(answers.every(({ status }) => status === 404)).toBe(true)
    expect(atOnce.most).toBeGreaterThan(0)
    expect(atOnce.most).toBeLessThanOrEqual(2)
  })

  it('is 404 within a second when mail-send does not answer', async () => {
    isSilent = true
    const limit = underLoad(10_000)
    const took = await leastOf(limit, async () => {
      const started = performance.now()
      const answers = await Promise.all(Array.from({ length: 20 }, () => get(madeId())))
      expect(answers.every(({ status }) => status === 404)).toBe(true)
      return performance.now() - started
    })
    expect(took).toBeLessThan(limit)
  })
})
