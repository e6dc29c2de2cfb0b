import { randomUUID } from 'node:crypto'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import type { QueueOperation } from '../../../src/delivery/queue/routes.ts'
import { type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../../support/fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld({ RETRY_FIRST: '1h', RETRY_MOST: '1h' })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

/** A destination of this test alone. */
const place = () => `d${randomUUID().slice(0, 8)}.example`
const someone = (domain: string) => `ann-${randomUUID().slice(0, 8)}@${domain}`

async function send(to: string | string[], caller = inboxCaller()): Promise<string> {
  const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'words' } })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

async function ask(operation: QueueOperation, body: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const changes = !/list|show/.test(operation)
  const answer = await fixture.internal(operation, 'gateway', changes ? { ...body, operator: 'root' } : body)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const list = async (filter: Record<string, unknown>) =>
  (await ask('mail-send.listQueue', { ...filter, limit: 10 }))['destinations']

interface Row {
  readonly id: string
  readonly send_id: string
  readonly state: string
  readonly attempts: number
}

async function rowOf(recipient: string): Promise<Row> {
  const [row] = await queryRows<Row>(fixture.db, 'select * from deliveries where recipient = $1', recipient)
  if (!row) throw new Error(`no delivery to ${recipient}`)
  return row
}

const stateIs = (recipient: string, state: string) =>
  waitFor(async () => (await rowOf(recipient)).state === state, { what: `${recipient} ${state}` })

/** A message that was deferred once, and is due again in an hour. */
async function deferred(domain: string, caller = inboxCaller()): Promise<{ id: string; to: string }> {
  const to = someone(domain)
  fixture.outside.answerRecipient(to, '450 4.2.0 later')
  const id = await send(to, caller)
  await stateIs(to, 'deferred')
  return { id, to }
}

describe('the queue as an operator sees it', () => {
  it('groups what waits by destination, with counts, ages, the next attempt and the last status', async () => {
    const [busy, calm] = [place(), place()]
    const caller = inboxCaller()
    const began = Date.now()
    await deferred(busy, caller)
    await deferred(busy, caller)
    await deferred(calm, caller)
    const rows = await list({ organization_id: caller.organization_id })
    expect(rows).toEqual([
      expect.objectContaining({ destination: busy, waiting: 2, running: 0, held: 0, status: '4.2.0' }),
      expect.objectContaining({ destination: calm, waiting: 1 }),
    ])
    const [first] = Array.isArray(rows) ? rows : []
    expect(Date.parse(first.oldest_at)).toBeGreaterThanOrEqual(began - 1_000)
    expect(Date.parse(first.next_attempt_at)).toBeGreaterThan(began + 3_000_000)
    expect(await list({ destination: calm })).toHaveLength(1)
    expect(await list({ destination: calm, queued_before: new Date(began - 60_000).toISOString() })).toEqual([])
  })

  it('shows a delivery, or all of a message, without subject and content', async () => {
    const caller = inboxCaller()
    const { id, to } = await deferred(place(), caller)
    const { id: deliveryId } = await rowOf(to)
    const byDelivery = await ask('mail-send.showQueued', { id: deliveryId })
    expect(byDelivery).toEqual(await ask('mail-send.showQueued', { id }))
    expect(byDelivery['deliveries']).toEqual([
      {
        delivery_id: deliveryId,
        message_id: id,
        organization_id: caller.organization_id,
        inbox_uid: caller.inbox.uid,
        recipient: to,
        destination: to.split('@')[1],
        state: 'deferred',
        attempts: 1,
        status: '4.2.0',
        diagnostic: '450 4.2.0 later',
        remote: 'mx.outside.test',
        held: false,
        queued_at: expect.any(String),
        updated_at: expect.any(String),
        next_attempt_at: expect.any(String),
      },
    ])
  })

  it('is not shown to other services', async () => {
    const answer = await fixture.internal('mail-send.listQueue', 'mail-ingest', { limit: 1 })
    expect(answer.status).toBe(401)
  })
})

describe('retrying', () => {
  it('makes what waits due now, and nothing else', async () => {
    const [chosen, other] = [place(), place()]
    const began = Date.now()
    const now = await deferred(chosen)
    const later = await deferred(other)
    expect(await ask('mail-send.retryQueued', { destination: chosen })).toEqual({ count: 1, more: false })
    await factOf(fixture, now.id, 'delivery.delivered')
    expect(await rowOf(later.to)).toMatchObject({ state: 'deferred', attempts: 1 })
    const [left] = Object(await list({ destination: other }))
    expect(Date.parse(left?.next_attempt_at)).toBeGreaterThan(began + 3_000_000)
  })

  it('begins no second attempt while one is running', async () => {
    const domain = place()
    const to = someone(domain)
    const silence = Promise.withResolvers<void>()
    fixture.outside.holdData(to, silence.promise)
    const id = await send(to)
    await stateIs(to, 'handing_over')
    expect(await ask('mail-send.retryQueued', { destination: domain })).toEqual({ count: 0, more: false })
    silence.resolve()
    await factOf(fixture, id, 'delivery.delivered')
    expect(await rowOf(to)).toMatchObject({ state: 'delivered', attempts: 1 })
    expect(fixture.outside.mailsTo(to)).toHaveLength(1)
  })
})

describe('dropping', () => {
  it('bounces with a clear diagnostic, suppresses nobody, and leaves no timer', async () => {
    const caller = inboxCaller()
    const { id, to } = await deferred(place(), caller)
    const { send_id } = await rowOf(to)
    const filter = { organization_id: caller.organization_id }
    expect(await ask('mail-send.dropQueued', filter)).toEqual({ count: 1, more: false })
    const { payload } = await factOf(fixture, id, 'delivery.bounced')
    expect(payload).toMatchObject({ recipients: [to], diagnostic: expect.stringContaining('by the operator') })
    expect(await countRows(fixture.db, 'list_entries where organization_id = $1', caller.organization_id)).toBe(0)
    expect(await countRows(fixture.db, 'timers where starts_with(key, $1)', send_id)).toBe(0)
    expect(await ask('mail-send.dropQueued', filter)).toEqual({ count: 0, more: false })
  })

  it('leaves a delivery to the attempt that is handing it over', async () => {
    const domain = place()
    const to = someone(domain)
    const silence = Promise.withResolvers<void>()
    fixture.outside.holdData(to, silence.promise)
    const id = await send(to)
    await stateIs(to, 'handing_over')
    expect(await ask('mail-send.dropQueued', { destination: domain })).toEqual({ count: 0, more: false })
    silence.resolve()
    await factOf(fixture, id, 'delivery.delivered')
    expect(factsAbout(fixture, id).filter(({ type }) => type === 'delivery.bounced')).toEqual([])
  })

  it('also ends what a process had begun that has died', async () => {
    const { id, to } = await deferred(place())
    const { id: deliveryId } = await rowOf(to)
    await queryRows(fixture.db, `update deliveries set state = 'handing_over' where id = $1 returning id`, deliveryId)
    expect(await ask('mail-send.dropQueued', { destination: to.split('@')[1] })).toEqual({ count: 1, more: false })
    await factOf(fixture, id, 'delivery.bounced')
  })

  it('takes a delivery from an attempt that has no session yet, which then hands nothing over', async () => {
    const domain = place()
    const to = someone(domain)
    const silence = Promise.withResolvers<void>()
    fixture.outside.holdGreeting(silence.promise)
    const id = await send(to)
    await waitFor(() => fixture.outside.greetingsHeld > 0, { what: 'a session that waits' })
    expect(await ask('mail-send.dropQueued', { destination: domain })).toEqual({ count: 1, more: false })
    silence.resolve()
    await factOf(fixture, id, 'delivery.bounced')
    // A later message uses the same session; the dropped one did not go before it.
    const after = someone(domain)
    await factOf(fixture, await send(after), 'delivery.delivered')
    expect(fixture.outside.mailsTo(to)).toEqual([])
    expect((await rowOf(to)).state).toBe('bounced')
  })
})

describe('holding', () => {
  it.each(['destination', 'organization'] as const)(
    'attempts no mail of a %s, later mail neither, until it is released',
    async (what) => {
      const [domain, caller] = [place(), inboxCaller()]
      const scope = what === 'destination' ? { destination: domain } : { organization_id: caller.organization_id }
      const earlier = await deferred(domain, caller)
      expect(await ask('mail-send.holdQueue', scope)).toEqual({ created: true })
      expect(await ask('mail-send.holdQueue', scope)).toEqual({ created: false })
      const to = someone(domain)
      const later = await send(to, caller)
      await ask('mail-send.retryQueued', { destination: domain })
      await waitFor(async () => (await waitingTimers(domain)) === 2, { what: 'both kept back' })
      expect(await list({ destination: domain })).toEqual([
        expect.not.objectContaining({ next_attempt_at: expect.anything() }),
      ])
      expect(await list({ destination: domain })).toEqual([expect.objectContaining({ waiting: 2, held: 2 })])
      expect(await ask('mail-send.retryQueued', { destination: domain })).toEqual({ count: 0, more: false })
      expect(fixture.outside.attempts).not.toContain(to)
      expect(await ask('mail-send.releaseQueue', scope)).toEqual({ released: true })
      await factOf(fixture, earlier.id, 'delivery.delivered')
      await factOf(fixture, later, 'delivery.delivered')
      expect(await ask('mail-send.releaseQueue', scope)).toEqual({ released: false })
    },
  )

  it('keeps back what another hold is about when one is released', async () => {
    const [domain, caller] = [place(), inboxCaller()]
    const both = [{ destination: domain }, { organization_id: caller.organization_id }]
    for (const scope of both) await ask('mail-send.holdQueue', scope)
    const id = await send(someone(domain), caller)
    await waitFor(async () => (await waitingTimers(domain)) === 1, { what: 'the mail kept back' })
    await ask('mail-send.releaseQueue', both[0])
    expect(await waitingTimers(domain)).toBe(1)
    await ask('mail-send.releaseQueue', both[1])
    await factOf(fixture, id, 'delivery.delivered')
  })

  it('can be dropped, and leaves the mail of others alone', async () => {
    const [domain, other, caller] = [place(), place(), inboxCaller()]
    await ask('mail-send.holdQueue', { destination: domain, organization_id: caller.organization_id })
    const kept = await send(someone(domain), caller)
    await factOf(fixture, await send(someone(domain)), 'delivery.delivered')
    await factOf(fixture, await send(someone(other), caller), 'delivery.delivered')
    await ask('mail-send.dropQueued', { destination: domain })
    await factOf(fixture, kept, 'delivery.bounced')
    const { holds } = await ask('mail-send.listHolds')
    expect(holds).toEqual([
      {
        destination: domain,
        organization_id: caller.organization_id,
        operator: 'root',
        created_at: expect.any(String),
      },
    ])
  })

  it('is refused without a scope', async () => {
    expect(await fixture.internal('mail-send.holdQueue', 'gateway', { operator: 'root' })).toMatchObject({
      status: 400,
    })
  })
})

/** Timers that a hold keeps back. */
function waitingTimers(domain: string): Promise<number> {
  return countRows(fixture.db, `timers where payload ->> 'destination' = $1 and due_at > '9000-01-01'`, domain)
}
