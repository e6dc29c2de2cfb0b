import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type BlobStore, openBlobStore, parseBlobStore } from '@restante/blobs'
import { ReturnPath } from '@restante/mime'
import { freePort } from '@restante/testkit'
import { Exchanges } from '../src/delivery/exchanges.ts'
import { OutsideRoute, type Smarthost } from '../src/delivery/outside-route.ts'
import { type OpenDelivery, outboundBlob } from '../src/delivery/store.ts'
import type { Outcome } from '../src/delivery/verdict.ts'

let directory: string
let blobs: BlobStore
const sendId = randomUUID()

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'outside-route-'))
  blobs = openBlobStore(parseBlobStore(`directory:${directory}`))
  await blobs.put(outboundBlob(sendId), Buffer.from('Subject: x\r\n\r\nplain words\r\n'), {
    contentType: 'message/rfc822',
  })
})
afterAll(() => rm(directory, { recursive: true }))

interface Relay {
  readonly host: string
  readonly port: number
  /** Every line that was said to it. */
  readonly heard: string[]
  stop(): void
}

const ANSWERS: Readonly<Record<string, string>> = { DATA: '354 go on', STARTTLS: '220 go ahead', AUTH: '235 2.7.0 ok' }

/** A relay that says yes to everything but what `answers` tells by command; to no answer at all by an empty one. */
async function relay(extensions: readonly string[], answers: Readonly<Record<string, string>> = {}): Promise<Relay> {
  const port = await freePort()
  const heard: string[] = []
  const sockets = new Set<Socket>()
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
        const answer = script[/^[A-Z]+/.exec(line)?.[0] ?? ''] ?? '250 2.0.0 fine'
        const silent = answer === '' || (line !== '.' && !/^[A-Z]{4,8}\b/.test(line))
        if (!silent) socket.write(`${answer}\r\n`)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = (): void => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { host: '127.0.0.1', port, heard, stop }
}

function open(recipient: string): OpenDelivery {
  return { id: randomUUID(), recipient, attempts: 0, delayed: false, state: 'queued' }
}

/** Makes one attempt through a smarthost, and tells what it came to for each recipient. */
async function attempt(
  { host, port }: Relay,
  recipients: readonly string[],
  options: Partial<Pick<Smarthost, 'tls' | 'credentials'>> & { signal?: AbortSignal } = {},
): Promise<Outcome[]> {
  const { tls = 'opportunistic', credentials, signal = new AbortController().signal } = options
  const route = new OutsideRoute({
    blobs,
    returnPath: new ReturnPath({ domain: 'bounces.restante.test', secret: 'secret' }),
    exchanges: new Exchanges({ port, dnsServers: [], connectMs: 2_000, allowLocal: true }),
    smarthost: { host, port, tls, credentials },
    ehloName: 'mail.restante.test',
    timeouts: { connectMs: 2_000, answerMs: 2_000 },
  })
  const outcomes: Outcome[] = []
  const send = {
    id: sendId,
    origin: { kind: 'system' as const },
    messageId: '<1@restante.test>',
    size: 27,
    sha256: '',
    acceptedAt: new Date(),
  }
  const steps = {
    begin: async (deliveries: readonly OpenDelivery[]) => deliveries.map((one) => ({ ...one, attempts: 1 })),
    report: (_delivery: unknown, outcome: Outcome) => void outcomes.push(outcome),
  }
  await route.attempt({ send, destination: 'outside.example', deliveries: recipients.map(open) }, steps, signal)
  return outcomes
}

describe('a smarthost that wants a login', () => {
  const credentials = { user: 'restante', pass: 'open sesame' }

  it('gets internationalized addresses when it takes them', async () => {
    const peer = await relay(['AUTH PLAIN', 'SMTPUTF8'])
    const outcomes = await attempt(peer, ['jürgen@outside.example'], { credentials })
    peer.stop()
    expect(outcomes).toMatchObject([{ kind: 'delivered' }])
    expect(peer.heard.find((line) => line.startsWith('MAIL FROM'))).toContain('SMTPUTF8')
  })

  it('does not get the password in the clear when its TLS does not come about', async () => {
    const peer = await relay(['STARTTLS', 'AUTH PLAIN'])
    const outcomes = await attempt(peer, ['ann@outside.example'], { credentials })
    peer.stop()
    expect(outcomes).toMatchObject([{ kind: 'deferred', verdict: { status: '4.7.5' } }])
    expect(peer.heard.filter((line) => line.startsWith('AUTH'))).toEqual([])
  })
})

describe('a server that wants TLS or a login first', () => {
  it('bounces nothing: that is no word about the recipient', async () => {
    const peer = await relay([], { MAIL: '530 5.7.0 Must issue a STARTTLS command first' })
    const outcomes = await attempt(peer, ['ann@outside.example'], { tls: 'none' })
    peer.stop()
    expect(outcomes).toMatchObject([{ kind: 'deferred', verdict: { status: '4.7.0' } }])
  })
})

describe('a server that takes all the time of an attempt', () => {
  it.each([
    ['greets and is silent', 'EHLO'],
    ['is silent about a recipient', 'RCPT'],
  ])('has failed like any other when it %s, so that retries end', async (_what, command) => {
    const peer = await relay([], { [command]: '' })
    const outcomes = await attempt(peer, ['ann@outside.example', 'bo@outside.example'], {
      signal: AbortSignal.timeout(300),
    })
    peer.stop()
    expect(outcomes).toMatchObject([{ kind: 'deferred' }, { kind: 'deferred' }])
  })

  it('has decided nothing when it is our shutdown that ends the attempt', async () => {
    const peer = await relay([], { RCPT: '' })
    const shutdown = new AbortController()
    const outcomes = attempt(peer, ['ann@outside.example'], { signal: shutdown.signal })
    setTimeout(() => shutdown.abort(new Error('shutting down')), 300)
    await expect(outcomes).rejects.toThrow('shutting down')
    peer.stop()
  })
})
