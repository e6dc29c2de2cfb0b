import { randomUUID } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { register } from 'prom-client'
import { DOMAIN, type Fixture, factOf, factsAbout, inboxCaller, startWorld } from './support/fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

const someone = () => `ann-${randomUUID().slice(0, 8)}@outside.example`

async function send(body: Record<string, unknown>): Promise<string> {
  const answer = await fixture.call('messages.send', inboxCaller(), { path: '/messages/send', body })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

async function deliveryTo(recipient: string) {
  const text = 'select *, send_id as "sendId" from deliveries where recipient = $1'
  const [delivery] = await queryRows<{ id: string; sendId: string; state: string }>(fixture.db, text, recipient)
  if (!delivery) throw new Error(`there is no delivery to ${recipient}`)
  return delivery
}

function inAnHour(): Date {
  return new Date(Date.now() + 3_600_000)
}

/** Attempts at deliveries that have ended, whatever their outcome. */
async function attemptsEnded(): Promise<number> {
  const counter = await register.getSingleMetric('restante_timers_attempts_total')?.get()
  const ofDeliveries = (counter?.values ?? []).filter(({ labels }) => String(labels['kind']).startsWith('delivery'))
  return ofDeliveries.reduce((sum, { value }) => sum + value, 0)
}

/** Puts the rows into the state left by a process that dies in the middle of an attempt; its lease has just run out. */
async function dieInAttempt(recipient: string): Promise<void> {
  const { id, sendId } = await deliveryTo(recipient)
  await queryRows(fixture.db, 'update deliveries set state = $2, attempts = 1 where id = $1', id, 'handing_over')
  const past = new Date(Date.now() - 1_000)
  await queryRows(
    fixture.db,
    `update timers set due_at = $2, attempt = 1, lease_id = $3, leased_until = $2 where starts_with(key, $1)`,
    sendId,
    past,
    randomUUID(),
  )
}

describe('after a crash', () => {
  it('delivers messages that were accepted and not begun', async () => {
    fixture.zone.silence('later.example')
    const to = `ann-${randomUUID().slice(0, 8)}@later.example`
    const id = await send({ to })
    await fixture.restart()
    fixture.zone.set('later.example', { type: 'MX', exchange: 'mx.outside.test', priority: 1 })
    await factOf(fixture, id, 'delivery.delivered')
    expect(fixture.outside.mailsTo(to)).toHaveLength(1)
  })

  it('delivers a message that was being handed over when the process died, under the same Message-ID', async () => {
    fixture.zone.fail('dying.example')
    const to = `ann-${randomUUID().slice(0, 8)}@dying.example`
    const id = await send({ to })
    await waitFor(async () => (await deliveryTo(to)).state === 'deferred', { what: 'a first attempt' })
    await dieInAttempt(to)
    fixture.zone.set('dying.example', { type: 'MX', exchange: 'mx.outside.test', priority: 1 })
    await factOf(fixture, id, 'delivery.delivered')
    const [mail] = fixture.outside.mailsTo(to)
    expect(mail?.parsed.messageId).toBe(id)
  })

  it('hands a mail over to a local inbox once: the mailbox recognises the delivery that it has accepted', async () => {
    const taken: string[] = []
    const scope = { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID() }
    fixture.peers.answers = {
      'mail-ingest.placeSent': async () => ({}),
      'gateway.resolveRecipients': async ({ addresses }) => ({
        recipients: addresses.map((given) => ({ status: 'deliver', given, address: given, ...scope })),
      }),
      'mail-ingest.acceptInbound': async ({ delivery_id }) => {
        taken.push(delivery_id)
        // The first response is lost.
        return taken.length === 1 ? 502 : { outcome: 'accepted' }
      },
    }
    const id = await send({ to: `bo@${DOMAIN}` })
    await factOf(fixture, id, 'delivery.delivered')
    expect(taken.length).toBeGreaterThan(1)
    expect(new Set(taken).size).toBe(1)
    expect(factsAbout(fixture, id).filter(({ type }) => type === 'delivery.delivered')).toHaveLength(1)
  })

  it('sends the mail again when a shutdown interrupted the session, which does not count as a failure', async () => {
    const reached = Promise.withResolvers<void>()
    const stalling = await stallingServer(() => reached.resolve())
    fixture.zone
      .set('stalling.test', { type: 'A', address: '127.0.0.9' })
      .set('stalling.example', { type: 'MX', exchange: 'stalling.test', priority: 1 })
    const to = `ann-${randomUUID().slice(0, 8)}@stalling.example`
    const id = await send({ to })
    await reached.promise
    const restarted = fixture.restart()
    fixture.zone.set('stalling.example', { type: 'MX', exchange: 'mx.outside.test', priority: 1 })
    await restarted
    stalling.close()
    await factOf(fixture, id, 'delivery.delivered')
    expect(factsAbout(fixture, id).map(({ type }) => type)).toEqual([
      'message.accepted',
      'delivery.handed_over',
      'delivery.delivered',
    ])
  })

  it('takes no delivery from the attempt that has taken over, however old the mail is', async () => {
    const reached = Promise.withResolvers<Socket>()
    const stalling = await stallingServer(reached.resolve)
    fixture.zone.set('stalling.test', { type: 'A', address: '127.0.0.9' }).fail('overtaken.example')
    const to = `ann-${randomUUID().slice(0, 8)}@overtaken.example`
    await send({ to })
    const { id, sendId } = await deliveryTo(to)
    const change = (set: string, ...values: unknown[]) =>
      queryRows(fixture.db, `update timers set ${set} returning id`, sendId, inAnHour(), ...values)
    const hold = () => change('due_at = $2 where starts_with(key, $1) and lease_id is null and attempt > 0')
    await waitFor(async () => (await hold()).length > 0, { what: 'a first attempt' })
    const weekAgo = new Date(Date.now() - 7 * 86_400_000)
    await queryRows(fixture.db, 'update sends set accepted_at = $2 where id = $1', sendId, weekAgo)
    fixture.zone.set('overtaken.example', { type: 'MX', exchange: 'stalling.test', priority: 1 })
    await queryRows(fixture.db, 'update timers set due_at = now() where starts_with(key, $1)', sendId)
    const socket = await reached.promise

    const ended = await attemptsEnded()
    await queryRows(fixture.db, 'update deliveries set attempts = attempts + 1 where id = $1', id)
    const taken = await deliveryTo(to)
    await change('lease_id = $3, leased_until = $2 where starts_with(key, $1)', randomUUID())
    socket.destroy()
    stalling.close()
    await waitFor(async () => (await attemptsEnded()) > ended, {
      what: 'the end of the attempt that was overtaken',
    })
    expect(await deliveryTo(to)).toEqual(taken)
  })

  it('publishes events that were committed and not published', async () => {
    const to = someone()
    const id = await send({ to })
    await fixture.restart()
    await factOf(fixture, id, 'delivery.delivered')
    expect(factsAbout(fixture, id).filter(({ type }) => type === 'message.accepted')).toHaveLength(1)
  })
})

describe('when the database goes down', () => {
  const repeat = (caller: ReturnType<typeof inboxCaller>, to: string, key: string) =>
    fixture.call('messages.send', caller, { path: '/messages/send', body: { to }, key })

  it('answers 503 and stores nothing of the request', async () => {
    const caller = inboxCaller()
    fixture.wire.cut()
    const answer = await repeat(caller, someone(), randomUUID())
    fixture.wire.restore()
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } })
    expect(await countRows(fixture.db, 'sends where inbox_uid = $1', caller.inbox.uid)).toBe(0)
    const id = await send({ to: someone() })
    await factOf(fixture, id, 'delivery.delivered')
  })

  it('answers 200 when it goes down while the message is being committed and is back within seconds', async () => {
    const caller = inboxCaller()
    const to = someone()
    fixture.wire.cutAfterCommitOf(to)
    const answering = fixture.call('messages.send', caller, { path: '/messages/send', body: { to } })
    await waitFor(() => fixture.wire.isDown, { what: 'the database to be gone' })
    fixture.wire.restore()
    const answer = await answering
    expect(answer.status).toBe(200)
    await factOf(fixture, answer.body['message_id'], 'delivery.delivered')
    expect(fixture.outside.mailsTo(to)).toHaveLength(1)
  })

  it('sends nothing twice when it goes down while the message is being committed', async () => {
    const caller = inboxCaller()
    const to = someone()
    const key = randomUUID()
    fixture.wire.cutAfterCommitOf(to)
    const answer = await repeat(caller, to, key)
    fixture.wire.restore()
    expect(answer.status).toBe(503)
    // The message was committed together with its key.
    const again = await waitFor(
      async () => {
        const next = await repeat(caller, to, key)
        return next.status === 503 ? undefined : next
      },
      { what: 'the database to be back' },
    )
    expect(again.status).toBe(200)
    await factOf(fixture, again.body['message_id'], 'delivery.delivered')
    expect(await countRows(fixture.db, 'sends where inbox_uid = $1', caller.inbox.uid)).toBe(1)
    expect(fixture.outside.mailsTo(to)).toHaveLength(1)
  })
})

/** Greets, accepts the envelope, and then never answers again. */
async function stallingServer(reached: (socket: Socket) => void) {
  const port = fixture.outside.port
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {})
    socket.write('220 stalling\r\n')
    socket.on('data', (bytes) => {
      if (/^(EHLO|HELO|RSET)/m.test(bytes.toString())) socket.write('250 fine\r\n')
      else reached(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.9', resolve))
  return server
}
