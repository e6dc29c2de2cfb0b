import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { topics } from '@restante/contracts/events'
import type { Webhook } from '@restante/contracts/resources'
import { sql } from '@restante/service/database'
import { serviceCommand } from '@restante/service/process'
import {
  callerOf,
  freePort,
  inboxScope,
  receivedEvent,
  verifyWebhook,
  WebhookReceiver,
  type WebhookRequest,
  waitFor,
} from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'

const [PROGRAM, ...ARGUMENTS] = serviceCommand(path.resolve(import.meta.dirname, '../../src/main.ts'))
const HEADER_VALUE = 'a value that no log may hold'
const TEXT = 'a text that no log may hold'

let dispatcher: TestDispatcher
let receiver: WebhookReceiver
let webhook: Webhook
const caller = callerOf()
const children: ChildProcess[] = []

beforeAll(async () => {
  dispatcher = await startDispatcher()
})
afterAll(() => dispatcher.stop())
beforeEach(async () => {
  receiver = await new WebhookReceiver().start()
  const headers = { 'x-own': HEADER_VALUE }
  webhook = await dispatcher.webhook(caller, { url: receiver.url, event_types: ['message.received'], headers })
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await dispatcher.clear()
  await receiver.stop()
})

async function publish(): Promise<void> {
  const event = receivedEvent(inboxScope({ organizationId: caller.organization_id }), { text: TEXT })
  await dispatcher.events.publish(topics['mail.messages'], event)
}

function requests(count: number): Promise<WebhookRequest[]> {
  return waitFor(() => receiver.requests.length >= count && receiver.requests, {
    what: `${count} requests`,
  })
}

function nothingRemains(): Promise<unknown> {
  return waitFor(
    async () => {
      expect(await dispatcher.remains()).toEqual({ deliveries: 0, payloads: 0, timers: 0 })
      return true
    },
    { what: 'nothing to remain' },
  )
}

const lockPayloads = sql<unknown>('select 1 from payloads for update')
const findBlocked = sql<{ pid: number }>(
  `select pid from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
)
const terminate = sql<unknown, [pid: number]>('select pg_terminate_backend($1)')
const putOff = sql<unknown>(`update timers set due_at = now() + interval '1 hour'`)
const endLeases = sql<unknown>('update timers set leased_until = now() where leased_until is not null')

/** Runs while every delivery's bookkeeping is blocked: the response is known to one process and recorded nowhere. */
async function withoutBookkeeping(work: (blocked: () => Promise<number>) => Promise<void>): Promise<void> {
  await dispatcher.db.transaction(async (tx) => {
    await tx.query(lockPayloads)
    await work(() =>
      waitFor(async () => (await dispatcher.db.query(findBlocked))[0]?.pid, { what: 'the bookkeeping to wait' }),
    )
  })
}

/** The dispatcher as a process of its own, on the same database, topics and queue; resolves when it works. */
async function spawnDispatcher(): Promise<{ child: ChildProcess; output: () => string }> {
  const env = { ...dispatcher.env, PORT: String(await freePort()), PATH: process.env['PATH'] ?? '' }
  const child = spawn(PROGRAM, ARGUMENTS, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const alive = async () => (await fetch(`http://127.0.0.1:${env.PORT}/healthz`)).ok
  await waitFor(alive, { what: 'the process to be up', timeout: 60_000 })
  return { child, output: () => output }
}

/** An event whose first attempt has failed, so that any process may make the next one, as soon as the test wants it. */
async function failOnce(): Promise<void> {
  receiver.script(500)
  await publish()
  await requests(1)
  await waitFor(async () => (await dispatcher.db.query(selectAttempts))[0]?.attempts === 1, { what: 'the failure' })
  await dispatcher.db.query(putOff)
}
const selectAttempts = sql<{ attempts: number }>('select attempts from deliveries')

describe('a shutdown', () => {
  it('lets a running request be answered and records the outcome', async () => {
    receiver.always('silence')
    await publish()
    await requests(1)
    const stopped = dispatcher.service.stop()
    receiver.release(200)
    await stopped
    await nothingRemains()
    expect(receiver.requests).toHaveLength(1)
    await dispatcher.start()
  })
})

describe('a failure between the response and its bookkeeping', () => {
  it('costs no second request when the database connection breaks', async () => {
    await failOnce()
    await withoutBookkeeping(async (blocked) => {
      await dispatcher.hurry()
      await requests(2)
      await dispatcher.db.query(terminate, await blocked())
      await blocked()
    })
    await nothingRemains()
    expect(receiver.requests).toHaveLength(2)
  })

  it('costs one more request with the same id and bytes when the process dies', async () => {
    await failOnce()
    await dispatcher.service.stop()
    const { child, output } = await spawnDispatcher()
    await withoutBookkeeping(async (blocked) => {
      await dispatcher.hurry()
      await requests(2)
      await blocked()
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    await dispatcher.db.query(endLeases)
    await dispatcher.start()
    const [failed, answered, again] = await requests(3)
    for (const request of [failed, answered]) {
      expect(again?.headers['svix-id']).toBe(request?.headers['svix-id'])
      expect(again?.body).toBe(request?.body)
    }
    for (const request of receiver.requests) verifyWebhook(webhook.secret, request)
    await nothingRemains()
    expect(receiver.requests).toHaveLength(3)
    for (const secret of [HEADER_VALUE, TEXT, webhook.secret.slice(6), receiver.url])
      expect(output()).not.toContain(secret)
  })
})
