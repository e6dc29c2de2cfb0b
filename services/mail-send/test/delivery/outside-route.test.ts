import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ReturnPath } from '@restante/mime'
import { withTimeLimit } from '@restante/service/concurrency'
import { leastOf, PATIENCE_MS, waitFor } from '@restante/testkit'
import type { OutboundContent } from '../../src/delivery/outbound/outbound-content.ts'
import type { OpenDelivery } from '../../src/delivery/outcome/delivery.ts'
import type { Outcome } from '../../src/delivery/outcome/outcome.ts'
import { MxHosts } from '../../src/delivery/routes/mx-hosts.ts'
import { MxSessions } from '../../src/delivery/routes/mx-sessions.ts'
import { OutsideRoute } from '../../src/delivery/routes/outside-route.ts'
import type { Smarthost } from '../../src/delivery/routes/smarthosts/smarthost.ts'
import { contentIn } from '../support/content.ts'
import { listenOn } from '../support/listen.ts'

let directory: string
let content: OutboundContent
const sendId = randomUUID()

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'outside-route-'))
  content = await contentIn(directory, sendId)
})
afterAll(() => rm(directory, { recursive: true }))

interface Relay {
  readonly host: string
  readonly port: number
  /** Every line that it received. */
  readonly heard: string[]
  readonly connections: () => number
  stop(): void
}

const ANSWERS: Readonly<Record<string, string>> = { DATA: '354 go on', STARTTLS: '220 go ahead', AUTH: '235 2.7.0 ok' }

interface Patience {
  /** Messages after which it ends a connection. */
  readonly perConnection: number
  /** Its last reply then. */
  readonly farewell: string
}

/** A relay that answers every command with success except those in `answers`; an empty answer means silence. */
async function relay(
  extensions: readonly string[],
  answers: Readonly<Record<string, string>> = {},
  { perConnection, farewell }: Patience = { perConnection: Number.POSITIVE_INFINITY, farewell: '' },
): Promise<Relay> {
  const heard: string[] = []
  const sockets = new Set<Socket>()
  const messages = new WeakMap<Socket, number>()
  const ehlo = ['250-relay.test', ...extensions.map((name) => `250-${name}`), '250 HELP'].join('\r\n')
  const script: Readonly<Record<string, string>> = { ...ANSWERS, EHLO: ehlo, ...answers }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write('220 relay.test ESMTP\r\n')
    socket.on('data', (bytes) => {
      if (bytes[0] === 0x16) {
        socket.end('this is no handshake')
        return
      }
      for (const line of bytes.toString().split('\r\n').slice(0, -1)) {
        heard.push(line)
        if (line === 'DATA') messages.set(socket, (messages.get(socket) ?? 0) + 1)
        const full = line.startsWith('MAIL') && (messages.get(socket) ?? 0) >= perConnection
        if (full && farewell === '') socket.destroy()
        if (full) {
          socket.end(farewell)
          return
        }
        const answer = script[/^[A-Z]+/.exec(line)?.[0] ?? ''] ?? '250 2.0.0 fine'
        const silent = answer === '' || (line !== '.' && !/^[A-Z]{4,8}\b/.test(line))
        if (!silent) socket.write(`${answer}\r\n`)
      }
    })
  })
  const port = await listenOn(server)
  const stop = (): void => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { host: '127.0.0.1', port, heard, stop, connections: () => sockets.size }
}

function open(recipient: string): OpenDelivery {
  return { id: randomUUID(), recipient, attempts: 0, delayed: false, inside: false, state: 'queued' }
}

/** No server here is silent for so long: an attempt that ends earlier is ended by its test. */
const TIMEOUTS = { connectMs: PATIENCE_MS, answerMs: PATIENCE_MS }

type Conditions = Partial<Pick<Smarthost, 'tls' | 'credentials'>> & { signal?: AbortSignal }

function routeTo({ host, port }: Relay, { tls = 'opportunistic', credentials }: Conditions = {}): OutsideRoute {
  return new OutsideRoute({
    content,
    returnPath: new ReturnPath({ domain: 'bounces.restante.test', secret: 'secret' }),
    mxSessions: new MxSessions({
      mxHosts: new MxHosts({ port, dnsServers: [], connectMs: PATIENCE_MS, allowLocal: true }),
      ehloName: 'mail.restante.test',
      timeouts: TIMEOUTS,
    }),
    senderRoutes: new Map(),
    smarthost: { host, port, tls, credentials },
    ehloName: 'mail.restante.test',
    timeouts: TIMEOUTS,
  })
}

/** Makes one attempt through a smarthost, and returns the outcome for each recipient. */
async function attempt(server: Relay, recipients: readonly string[], conditions: Conditions = {}): Promise<Outcome[]> {
  const route = routeTo(server, conditions)
  try {
    return await attemptBy(route, recipients, conditions.signal)
  } finally {
    await route.stop()
  }
}

async function attemptBy(
  route: OutsideRoute,
  recipients: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const send = {
    id: sendId,
    origin: { kind: 'system' as const },
    messageId: '<1@restante.test>',
    size: 27,
    sha256: '',
    acceptedAt: new Date(),
    unsubscribable: false,
    returnPath: undefined,
  }
  const steps = {
    begin: async (deliveries: readonly OpenDelivery[]) => deliveries.map((one) => ({ ...one, attempts: 1 })),
    beginSending: async (delivery: OpenDelivery) => ({ ...delivery, attempts: 1 }),
    report: (_delivery: unknown, outcome: Outcome) => void outcomes.push(outcome),
  }
  await route.attempt({ send, destination: 'outside.example', deliveries: recipients.map(open) }, steps, signal)
  return outcomes
}

describe('a smarthost that requires a login', () => {
  const credentials = { user: 'restante', pass: 'open sesame' }

  it('gets internationalized addresses when it supports them', async () => {
    const server = await relay(['AUTH PLAIN', 'SMTPUTF8'])
    const outcomes = await attempt(server, ['jürgen@outside.example'], { credentials })
    server.stop()
    expect(outcomes).toMatchObject([{ kind: 'delivered' }])
    expect(server.heard.find((line) => line.startsWith('MAIL FROM'))).toContain('SMTPUTF8')
  })

  it('does not get the password unencrypted when its TLS fails', async () => {
    const server = await relay(['STARTTLS', 'AUTH PLAIN'])
    const outcomes = await attempt(server, ['ann@outside.example'], { credentials })
    server.stop()
    expect(outcomes).toMatchObject([{ kind: 'deferred', verdict: { status: '4.7.5' } }])
    expect(server.heard.filter((line) => line.startsWith('AUTH'))).toEqual([])
  })
})

describe('a server that requires TLS or a login first', () => {
  it('leads to no bounce: its reply does not concern the recipient', async () => {
    const server = await relay([], { MAIL: '530 5.7.0 Must issue a STARTTLS command first' })
    const outcomes = await attempt(server, ['ann@outside.example'], { tls: 'none' })
    server.stop()
    expect(outcomes).toMatchObject([{ kind: 'deferred', verdict: { status: '4.7.0' } }])
  })
})

describe('a server that uses up all the time of an attempt', () => {
  it.each([
    ['greets and is silent', 'EHLO'],
    ['is silent about a recipient', 'RCPT'],
  ])('counts as a failure when it %s, so that retries end', async (_what, command) => {
    const server = await relay([], { [command]: '' })
    const recipients = ['ann@outside.example', 'bo@outside.example']
    const outcomes = await withTimeLimit(300, [], (signal) => attempt(server, recipients, { signal }))
    server.stop()
    expect(outcomes).toMatchObject([{ kind: 'deferred' }, { kind: 'deferred' }])
  })

  it('has decided nothing when a shutdown ends the attempt', async () => {
    const server = await relay([], { RCPT: '' })
    const shutdown = new AbortController()
    const outcomes = attempt(server, ['ann@outside.example'], { signal: shutdown.signal })
    const rejected = expect(outcomes).rejects.toThrow('shutting down')
    await waitFor(() => server.heard.some((line) => line.startsWith('RCPT')), { what: 'a recipient' })
    shutdown.abort(new Error('shutting down'))
    await rejected
    server.stop()
  })
})

describe('an SMTP session', () => {
  it('carries the messages that follow at once, and ends when the service does', async () => {
    // A message that follows after seconds, because the machine stands still, has a session of its own.
    const connections = await leastOf(2, async () => {
      const server = await relay([])
      const route = routeTo(server)
      for (let message = 0; message < 3; message++)
        expect(await attemptBy(route, ['ann@outside.example'])).toMatchObject([{ kind: 'delivered' }])
      await route.stop()
      await waitFor(() => server.heard.at(-1) === 'QUIT', { what: 'the goodbye' })
      server.stop()
      return server.connections()
    })
    expect(connections).toBe(1)
  })

  it.each([
    ['hangs up without a word', ''],
    ['says goodbye', '421 4.7.0 that is enough\r\n'],
  ])('is followed by another when the server %s: nothing is deferred', async (_what, farewell) => {
    const server = await relay([], {}, { perConnection: 2, farewell })
    const route = routeTo(server)
    const crowd = ['ann', 'bo', 'cy', 'di', 'ed'].map((name) => `${name}@outside.example`)
    expect((await attemptBy(route, crowd)).map(({ kind }) => kind)).toEqual(Array(5).fill('delivered'))
    expect(server.connections()).toBe(3)
    await route.stop()
    server.stop()
  })

  it('is not reopened when its first message was refused', async () => {
    const server = await relay([], {}, { perConnection: 0, farewell: '421 4.3.2 closing\r\n' })
    expect(await attempt(server, ['ann@outside.example'])).toMatchObject([{ kind: 'deferred' }])
    expect(server.connections()).toBe(1)
    server.stop()
  })
})
