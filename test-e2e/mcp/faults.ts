import { byLength, PATIENCE_MS, waitFor } from '@restante/testkit'
import type { System } from '../stack/system.ts'
import { type OutsidePeer, openPeer } from '../support/peers.ts'
import { createTenant, newUsername, type Tenant } from '../support/tenants.ts'
import { openToolClient, type ToolClient } from './client.ts'

const CALLS = 30
const MAILS = byLength({ short: 26, long: 50 })
/** After so many mails a service is killed, or restarted, while the clients wait. */
const FAULTS = byLength({
  short: { mcp: 5, 'websocket-fanout': 11, gateway: 17 },
  long: { mcp: 10, 'websocket-fanout': 22, gateway: 34 },
})
/** Every so many mails one is deleted as soon as it has come. */
const DELETED_EVERY = 7

/** What clients of the tools are promised while services are killed. */
export function describeTools(systemOf: () => System): void {
  let system: System
  let tenant: Tenant
  let peer: OutsidePeer
  const clients: ToolClient[] = []
  beforeAll(async () => {
    system = systemOf()
    ;[tenant, peer] = await Promise.all([createTenant(system.endpoints), openPeer(system.endpoints)])
  })
  afterAll(async () => {
    await Promise.all([peer?.stop(), ...clients.map((client) => client.stop())])
  })

  async function openClient(fetch?: typeof globalThis.fetch): Promise<ToolClient> {
    const client = await openToolClient(system.endpoints, tenant.key, fetch)
    clients.push(client)
    return client
  }

  it('repeats calls that failed on the same client, without another initialize', async () => {
    const methods: string[] = []
    const client = await openClient((input, init) => {
      if (typeof init?.body === 'string') methods.push(String(JSON.parse(init.body).method))
      return fetch(input, init)
    })
    const created = new Set<string>()
    let failures = 0
    const createFor = async (index: number) => {
      const clientId = newUsername(`call-${index}`)
      const create = () =>
        client.call('create_inbox', { clientId }).catch((error: unknown) => {
          failures++
          throw error
        })
      const { inboxId } = await waitFor(create, {
        what: `call ${index} to succeed`,
        timeout: 2 * PATIENCE_MS,
        interval: 100,
      })
      created.add(String(inboxId))
    }
    const creations = Array.from({ length: CALLS }, (_, index) => createFor(index))
    await waitFor(() => created.size > 0, { what: 'the first answers', interval: 1 })
    await system.process('mcp').stop('SIGKILL')
    // On a fast machine all may have been answered before.
    creations.push(createFor(CALLS))
    await waitFor(() => failures > 0, { what: 'a call to fail' })
    system.process('mcp').start()
    await Promise.all(creations)
    const { inboxes } = await tenant.client.inboxes.list({ limit: 100 })
    expect(new Set(inboxes.map(({ inboxId }) => inboxId))).toEqual(created)
    expect(created.size).toBe(CALLS + 1)
    expect(methods.filter((method) => method === 'initialize')).toHaveLength(1)
  })

  it('waits for messages without missing one or giving one twice, whatever is killed or deleted', async () => {
    const { inboxId } = await tenant.client.inboxes.create({})
    const senders = ['first', 'second'].map((name) => peer.address(newUsername(name)))
    const idOf = (index: number) => `<${index}.${inboxId.split('@')[0]}@${peer.domain}>`
    const thread = idOf(0)
    const isInThread = (index: number) => index % 3 === 0 || index === MAILS
    // Like any mail server, it tries again when it is told to come later.
    const mail = (index: number) =>
      waitFor(
        () =>
          peer.send({
            from: senders[index % 2] ?? '',
            to: inboxId,
            subject: isInThread(index) ? 'Thread' : `Mail ${index}`,
            text: `Text ${index}`,
            messageId: idOf(index),
            ...(isInThread(index) && index > 0 && { inReplyTo: thread, references: thread }),
          }),
        { what: `mail ${index} to be accepted`, interval: 500 },
      )
    const beginning = await openClient()
    await mail(0)
    const { threadId } = await waitFor(() => tenant.client.inboxes.messages.get(inboxId, thread), {
      what: 'the thread',
    })

    /** Waits for one message after another until the last one comes. */
    async function collect(filter: Readonly<Record<string, unknown>>): Promise<string[]> {
      const client = await openClient()
      const wait = (after: unknown, waitSeconds: number) =>
        client.call('wait_for_message', { inboxId, ...filter, after, waitSeconds })
      let { cursor } = await wait(undefined, 0)
      const got: string[] = []
      while (!got.includes(idOf(MAILS))) {
        const what = `the message after ${got.length} others`
        const answer = await waitFor(() => wait(cursor, 5), { what, timeout: 2 * PATIENCE_MS, interval: 100 })
        cursor = answer['cursor']
        for (const each of messagesIn(answer)) got.push(String(each['messageId']))
      }
      return got
    }
    const collecting = Promise.all([collect({}), collect({ threadId }), collect({ from: senders[0]?.toUpperCase() })])
    const deleted = new Set<number>()
    for (let index = 1; index <= MAILS; index++) {
      await mail(index)
      if (index % DELETED_EVERY === 0) {
        await waitFor(() => tenant.client.inboxes.messages.get(inboxId, idOf(index)), { what: `mail ${index}` })
        deleted.add(index)
        await tenant.client.inboxes.messages.delete(inboxId, idOf(index))
      }
      await disturbAfter(index)
    }
    const [all, inThread, fromFirst] = await collecting
    const expected = Array.from({ length: MAILS }, (_, index) => index + 1)
    for (const [got, isExpected] of [
      [all, () => true],
      [inThread, isInThread],
      [fromFirst, (index: number) => index % 2 === 0],
    ] as const) {
      expect(got).toHaveLength(new Set(got).size)
      // A message that is deleted may have been given before.
      const kept = got.filter((id) => ![...deleted].some((index) => idOf(index) === id))
      expect(kept).toEqual(expected.filter((index) => isExpected(index) && !deleted.has(index)).map(idOf))
    }
    expect(await beginning.call('auth_me')).toMatchObject({ organizationId: tenant.id })
  }, 600_000)

  async function disturbAfter(mails: number): Promise<void> {
    for (const name of ['mcp', 'websocket-fanout'] as const) {
      if (mails !== FAULTS[name]) continue
      await system.process(name).stop('SIGKILL')
      // What comes while it is down is found afterwards.
      system.process(name).start()
    }
    if (mails !== FAULTS.gateway) return
    await system.process('gateway').stop()
    system.process('gateway').start()
    await system.process('gateway').ready()
  }
}

function messagesIn(answer: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const { messages } = answer
  if (!Array.isArray(messages)) throw new Error(`no messages: ${JSON.stringify(answer)}`)
  return messages.map((each) => ({ ...each }))
}
