import { randomUUID } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { age, type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../support/fixture.ts'
import { listenOn } from '../support/listen.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

function someone(domain = 'outside.example'): string {
  return `ann-${randomUUID().slice(0, 8)}@${domain}`
}

async function send(body: Record<string, unknown>, caller = inboxCaller()): Promise<string> {
  const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

const typesAbout = (id: string) =>
  factsAbout(fixture, id)
    .map(({ type }) => type)
    .slice(1)

describe('delivery to external recipients', () => {
  it('retries after a 4xx, announces the delay after the first retry, and finally delivers', async () => {
    const to = someone()
    fixture.outside.answerRecipient(to, '450 4.2.0 later', '451 4.2.0 later', '421 4.2.0 later')
    const id = await send({ to })
    await factOf(fixture, id, 'delivery.delivered')
    expect(typesAbout(id)).toEqual(['delivery.handed_over', 'delivery.delayed', 'delivery.delivered'])
    const [delivery] = await queryRows<{ send_id: string }>(
      fixture.db,
      'select * from deliveries where recipient = $1',
      to,
    )
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 4, status: expect.stringMatching(/^2\./) })
    expect(await countRows(fixture.db, 'timers where starts_with(key, $1)', delivery?.send_id ?? '')).toBe(0)
  })

  it('bounces on a 5xx at once, suppresses the address for the organization, and does not retry', async () => {
    const caller = inboxCaller()
    const to = someone()
    fixture.outside.answerRecipient(to, '550 5.1.1 no such user')
    const id = await send({ to }, caller)
    const { payload } = await factOf(fixture, id, 'delivery.bounced')
    expect(payload).toMatchObject({
      type: 'Permanent',
      sub_type: 'NoEmail',
      recipients: [to],
      diagnostic: expect.stringContaining('no such user'),
    })
    expect(typesAbout(id)).toEqual(['delivery.handed_over', 'delivery.bounced'])
    const again = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to } })
    expect(again).toMatchObject({ status: 403, body: { message: expect.stringContaining(`${to} (bounced)`) } })
    expect(fixture.outside.attempts.filter((attempt) => attempt === to)).toHaveLength(1)
  })

  it('bounces without suppressing the address when the content is refused after DATA', async () => {
    const caller = inboxCaller()
    const to = someone()
    fixture.outside.answerData(to, '554 5.7.1 looks like spam')
    const id = await send({ to }, caller)
    const { payload } = await factOf(fixture, id, 'delivery.bounced')
    expect(payload).toMatchObject({ type: 'Transient', sub_type: 'ContentRejected' })
    expect(await countRows(fixture.db, 'list_entries where organization_id = $1', caller.organization_id)).toBe(0)
  })

  it('gives up when the retry window is over, with the last reply', async () => {
    const to = someone()
    fixture.outside.answerRecipient(to, ...Array.from({ length: 1_000 }, () => '452 4.2.2 mailbox full' as const))
    const id = await send({ to })
    await factOf(fixture, id, 'delivery.delayed')
    await age(fixture, id)
    const { payload } = await factOf(fixture, id, 'delivery.bounced')
    expect(payload).toMatchObject({ type: 'Transient', sub_type: 'MailboxFull' })
    expect(typesAbout(id)).toEqual(['delivery.handed_over', 'delivery.delayed', 'delivery.bounced'])
  })

  it('retries when the connection breaks in the middle of the message', async () => {
    const to = someone()
    fixture.outside.answerData(to, 'drop')
    const id = await send({ to, text: 'x'.repeat(100_000) })
    await factOf(fixture, id, 'delivery.delivered')
    expect(fixture.outside.mailsTo(to)).toHaveLength(1)
  })

  it('decides each recipient separately, over one connection, and reports each', async () => {
    const [fine, unknown, later] = [someone(), someone(), someone()]
    fixture.outside.answerRecipient(unknown, '550 5.1.1 no such user').answerRecipient(later, '450 4.2.0 later')
    const id = await send({ to: fine, cc: unknown, bcc: later })
    await waitFor(() => factsAbout(fixture, id).filter(({ type }) => type === 'delivery.delivered').length === 2, {
      what: 'both deliveries',
    })
    const about = (type: string) =>
      factsAbout(fixture, id)
        .filter((fact) => fact.type === type)
        .map(({ payload }) => payload['recipients'])
    expect(about('delivery.handed_over')).toEqual([[fine, unknown, later].sort()])
    expect(about('delivery.bounced')).toEqual([[unknown]])
    expect(about('delivery.delivered').flat().sort()).toEqual([fine, later].sort())
    const returnPaths = [fine, later].map((address) => fixture.outside.mailsTo(address)[0]?.mailFrom)
    expect(new Set(returnPaths).size).toBe(2)
  })

  it('bounces mail to a domain that does not exist or accepts no mail, without a message.sent event', async () => {
    const nowhere = someone(`${randomUUID().slice(0, 8)}.nowhere`)
    const id = await send({ to: nowhere })
    const { payload } = await factOf(fixture, id, 'delivery.bounced')
    expect(payload).toMatchObject({ type: 'Permanent', sub_type: 'NoEmail' })
    expect(typesAbout(id)).toEqual(['delivery.bounced'])
  })

  it('waits for a name server that fails', async () => {
    fixture.zone.fail('flaky.example')
    const to = someone('flaky.example')
    const id = await send({ to })
    await waitFor(() => fixture.zone.questions.filter(({ name }) => name === 'flaky.example').length > 1, {
      what: 'a second look',
    })
    fixture.zone.set('flaky.example', { type: 'MX', exchange: 'mx.outside.test', priority: 1 })
    await factOf(fixture, id, 'delivery.delivered')
  })

  it('tries the next MX host when the best one refuses the session', async () => {
    const refusing = await listen((socket) => socket.end('554 5.3.2 not today\r\n'), '127.0.0.2')
    fixture.zone
      .set('first.test', { type: 'A', address: '127.0.0.2' })
      .set(
        'two.example',
        { type: 'MX', exchange: 'first.test', priority: 1 },
        { type: 'MX', exchange: 'mx.outside.test', priority: 2 },
      )
    const to = someone('two.example')
    await send({ to })
    await fixture.outside.next(to)
    expect(refusing.connections).toBe(1)
    refusing.stop()
  })

  it('sends unencrypted when the offered TLS does not work', async () => {
    const seen: string[] = []
    const broken = await listen((socket) => brokenTls(socket, seen), '127.0.0.3')
    fixture.zone
      .set('broken.test', { type: 'A', address: '127.0.0.3' })
      .set('broken.example', { type: 'MX', exchange: 'broken.test', priority: 1 })
    const id = await send({ to: someone('broken.example'), text: 'plain words' })
    await factOf(fixture, id, 'delivery.delivered')
    expect(seen.join('')).toContain('STARTTLS')
    expect(seen.join('')).toContain('plain words')
    broken.stop()
  })

  it('declares the size, and bounces a message that is too large for the server before sending it', async () => {
    const seen: string[] = []
    const small = await listen(
      (socket) => plainServer(socket, seen, ['SIZE 1000', 'PIPELINING', '8BITMIME']),
      '127.0.0.4',
    )
    fixture.zone
      .set('small.test', { type: 'A', address: '127.0.0.4' })
      .set('small.example', { type: 'MX', exchange: 'small.test', priority: 1 })
    const large = await send({ to: someone('small.example'), text: 'x'.repeat(2_000) })
    const { payload } = await factOf(fixture, large, 'delivery.bounced')
    expect(payload).toMatchObject({ type: 'Transient', sub_type: 'MessageTooLarge' })
    const fine = await send({ to: someone('small.example'), text: 'x' })
    await factOf(fixture, fine, 'delivery.delivered')
    expect(seen.join('')).toMatch(/MAIL FROM:<b\+[0-9a-f]+@bounces\.restante\.test> BODY=8BITMIME SIZE=\d{3}\r\n/)
    small.stop()
  })

  it('bounces an internationalized address when the server does not support it', async () => {
    const seen: string[] = []
    const ascii = await listen((socket) => plainServer(socket, seen, []), '127.0.0.5')
    fixture.zone
      .set('ascii.test', { type: 'A', address: '127.0.0.5' })
      .set('ascii.example', { type: 'MX', exchange: 'ascii.test', priority: 1 })
    const id = await send({ to: `jürgen-${randomUUID().slice(0, 4)}@ascii.example` })
    const { payload } = await factOf(fixture, id, 'delivery.bounced')
    expect(payload).toMatchObject({ type: 'Transient', sub_type: 'ContentRejected' })
    expect(seen.join('')).not.toContain('MAIL FROM')
    ascii.stop()
  })
})

interface Listening {
  connections: number
  stop(): void
}

/** A server on another loopback address, at the port of all MX hosts. */
async function listen(talk: (socket: Socket) => void, address: string): Promise<Listening> {
  const listening: Listening = { connections: 0, stop: () => server.close() }
  const server = createServer((socket) => {
    listening.connections++
    socket.on('error', () => {})
    talk(socket)
  })
  await new Promise<void>((resolve) => server.listen(fixture.outside.port, address, resolve))
  return listening
}

/** @param taking resolves when it answers what it has got. */
function plainServer(
  socket: Socket,
  seen: string[],
  extensions: readonly string[],
  taking: Promise<void> = Promise.resolve(),
): void {
  let data = false
  const say = (line: string): void => void socket.write(`${line}\r\n`)
  say('220 plain.test ESMTP')
  socket.on('data', (bytes) => {
    const text = bytes.toString()
    seen.push(text)
    for (const line of text.split('\r\n').slice(0, -1)) {
      if (data) {
        if (line !== '.') continue
        data = false
        void taking.then(() => say('250 2.0.0 taken'))
      } else if (/^EHLO/.test(line)) {
        say(['250-plain.test', ...extensions.map((extension) => `250-${extension}`), '250 HELP'].join('\r\n'))
      } else if (/^DATA/.test(line)) {
        data = true
        say('354 go on')
      } else if (/^STARTTLS/.test(line)) {
        say('220 go ahead')
      } else if (/^QUIT/.test(line)) {
        socket.end('221 bye\r\n')
      } else say('250 2.0.0 fine')
    }
  })
}

/** Offers STARTTLS, and then talks anything but TLS. */
function brokenTls(socket: Socket, seen: string[]): void {
  socket.on('data', (bytes) => {
    if (bytes[0] === 0x16) socket.end('this is no handshake')
  })
  plainServer(socket, seen, ['STARTTLS'])
}

describe('concurrency per destination', () => {
  it('limits the connections to one destination, and delivers everything all the same', async () => {
    const open = new Set<Socket>()
    let most = 0
    const seen: string[] = []
    const taking = Promise.withResolvers<void>()
    const server = createServer((socket) => {
      open.add(socket)
      most = Math.max(most, open.size)
      const ended = () => open.delete(socket)
      // What its client has ended does not count, although it is closed a moment later.
      socket.on('data', (bytes) => /^QUIT/m.test(bytes.toString()) && ended())
      socket.on('close', ended)
      socket.on('error', () => {})
      plainServer(socket, seen, [], taking.promise)
    })
    const narrow = await startWorld({ DELIVERY_PER_DESTINATION: '2', MX_PORT: String(await listenOn(server)) })
    narrow.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
    const sendTo = async (to: string) => {
      const answer = await narrow.call('messages.send', inboxCaller(), { path: '/messages/send', body: { to } })
      return answer.body['message_id']
    }
    const ids = await Promise.all(Array.from({ length: 10 }, () => sendTo(someone())))
    const begun = () => countRows(narrow.db, 'timers where attempt > 0')
    await waitFor(async () => (await begun()) === 10, { what: 'ten attempts' })
    // One at another destination begins after them: whatever they connect to is connected when it is.
    const other = await sendTo(someone('other.example'))
    await waitFor(() => open.size >= 3 && seen.some((text) => text.includes('@other.example>')), {
      what: 'all connections',
    })
    taking.resolve()
    for (const id of [...ids, other]) await factOf(narrow, id, 'delivery.delivered')
    server.close()
    await narrow.stop()
    expect(most).toBe(3)
  })
})
