import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ConfigurationError } from '@restante/service/configuration'
import { countRows, EventPublisher, MailPeer, queryRows, waitFor } from '@restante/testkit'
import { readSenderRoutes } from '../../../src/delivery/routes/smarthosts/sender-routes.ts'
import { routeFor } from '../../../src/delivery/routes/smarthosts/smarthost.ts'
import { CustomDomain } from '../../support/custom-domain.ts'
import { DOMAIN, type Fixture, factOf, inboxCaller, startWorld } from '../../support/fixture.ts'

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'sender-routes-'))
})
afterAll(() => rm(directory, { recursive: true }))

/** Writes a file of routes. */
async function fileOf(content: unknown): Promise<string> {
  const file = path.join(directory, randomUUID())
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const failureOf = async (content: unknown): Promise<unknown> =>
  readSenderRoutes(await fileOf(content)).catch((error: unknown) => error)

describe('the file of routes', () => {
  it('names a relay or the MX hosts for a domain, or for what is below it', async () => {
    const password_file = await fileOf('open sesame\n')
    const routes = await readSenderRoutes(
      await fileOf({
        'Bücher.example': { host: 'relay.example', port: 587, user: 'me', password_file, concurrency: 3 },
        'plain.example': { host: '::1' },
        '.plain.example': 'direct',
      }),
    )
    expect(routeFor(routes, 'xn--bcher-kva.example')).toEqual({
      ...{ host: 'relay.example', port: 587, tls: 'required', concurrency: 3 },
      credentials: { user: 'me', pass: 'open sesame' },
    })
    expect(routeFor(routes, 'plain.example')).toMatchObject({ host: '::1', port: 25, tls: 'opportunistic' })
    expect(routeFor(routes, 'a.b.plain.example')).toBe('direct')
    expect(routeFor(routes, 'example')).toBeUndefined()
    expect(routeFor(routes, 'notplain.example')).toBeUndefined()
  })

  it('names what is wrong with every entry, and no password', async () => {
    const secret = 'a-password-of-the-tests'
    const failure = await failureOf({
      'a.example': { host: 'relay.example', user: 'me' },
      'b.example': { host: 'relay.example', port: 0 },
      'c.example': { host: 'relay.example', pasword: secret },
      'd.example': secret,
      localhost: 'direct',
      'e.example': { host: 'relay.example', user: 'me', password: secret, password_file: '/nowhere' },
      'f.example': { host: 'relay.example', user: 'me', password_file: '/nowhere' },
      'G.example': 'direct',
      'g.example': 'direct',
    })
    if (!(failure instanceof ConfigurationError)) throw new Error('nothing is wrong')
    expect(failure.problems).toEqual([
      expect.stringMatching(/"a\.example" needs both user and password, or neither$/),
      expect.stringMatching(/"b\.example"\.port: /),
      expect.stringMatching(/"c\.example": Unrecognized key: "pasword"$/),
      expect.stringMatching(/"d\.example" must be "direct" or a smarthost$/),
      expect.stringMatching(/"localhost" is no domain$/),
      expect.stringMatching(/"e\.example" has both password and password_file$/),
      expect.stringMatching(/"f\.example"\.password_file cannot be read: /),
      expect.stringMatching(/"g\.example" is there twice$/),
    ])
    expect(failure.message).not.toContain(secret)
  })

  it.each([['{"a.example": {"password": "a-password-of-the-tests"'], ['[]'], ['"direct"']])(
    'must be an object of JSON: %s',
    async (text) => {
      const failure = await failureOf(text)
      expect(failure).toBeInstanceOf(ConfigurationError)
      expect(String(failure)).toContain('must hold a JSON object')
      expect(String(failure)).not.toContain('a-password-of-the-tests')
    },
  )
})

/** A relay that breaks every connection. */
interface Broken {
  readonly port: number
  connections: number
  stop(): Promise<void>
}

async function broken(): Promise<Broken> {
  const server: Server = createServer((socket: Socket) => {
    made.connections++
    socket.on('error', () => {})
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const made: Broken = {
    port: address.port,
    connections: 0,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return made
}

const PRIVATE = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

const someone = (domain = 'outside.example') => `ann-${randomUUID().slice(0, 8)}@${domain}`

describe('mail from several domains', () => {
  let fixture: Fixture
  let publisher: EventPublisher
  let usual: MailPeer
  let special: MailPeer
  let dead: Broken
  const [listed, direct, stuck] = ['listed', 'direct', 'stuck'].map(
    (what) => `${what}-${randomUUID().slice(0, 8)}.test`,
  )

  beforeAll(async () => {
    ;[usual, special, dead] = await Promise.all([new MailPeer().start(), new MailPeer().start(), broken()])
    const place = { host: '127.0.0.1', tls: 'none' }
    const routes = {
      [String(listed)]: { ...place, port: special.port },
      [String(direct)]: 'direct',
      [String(stuck)]: { ...place, port: dead.port },
    }
    fixture = await startWorld({
      SMARTHOST: `127.0.0.1:${usual.port}`,
      SENDER_ROUTES_FILE: await fileOf(routes),
      RETRY_FIRST: '1h',
      RETRY_MOST: '1h',
      WARM_UP_FROM: new Date().toISOString().slice(0, 10),
      WARM_UP_START: '1000',
    })
    publisher = new EventPublisher(fixture.topics.kafka)
    fixture.peers.answers = {
      'mail-ingest.placeSent': async () => ({}),
      'domains-dns.getSigningKey': async () => ({
        key: { domain: 'signed.test', selector: 'r1', private_key: PRIVATE },
      }),
    }
  })
  afterAll(async () => {
    await publisher.stop()
    await fixture.stop()
    await Promise.all([usual.stop(), special.stop(), dead.stop()])
  })

  async function sendFrom(domain: string | undefined, to: string): Promise<string> {
    const custom = domain === DOMAIN ? undefined : await new CustomDomain(fixture, publisher, domain).set()
    const caller = custom ? custom.inbox() : inboxCaller()
    const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'words' } })
    expect(answer).toMatchObject({ status: 200 })
    return String(answer.body['message_id'])
  }

  const rowOf = async (messageId: string) => {
    const [row] = await queryRows<{ state: string; diagnostic: string | null }>(
      fixture.db,
      'select d.state, d.diagnostic from deliveries d join sends s on s.id = d.send_id where s.message_id = $1',
      messageId,
    )
    return row
  }
  const deferred = (messageId: string) =>
    waitFor(async () => ((await rowOf(messageId))?.state === 'deferred' ? rowOf(messageId) : undefined), {
      what: 'the deferral',
    })

  it('goes to the relay of its domain, to the MX hosts, or to the default relay', async () => {
    const to = someone()
    const ids = [await sendFrom(listed, to), await sendFrom(direct, to), await sendFrom(DOMAIN, to)]
    for (const id of ids) await factOf(fixture, id, 'delivery.delivered')
    const arrived = [special, fixture.outside, usual].map((peer) =>
      peer.mailsTo(to).map(({ parsed }) => parsed.messageId),
    )
    expect(arrived).toEqual(ids.map((id) => [id]))
    // Only what goes over the wire from here counts for the warm-up of this source address.
    const counted = await queryRows<{ recipients: number }>(fixture.db, 'select recipients from warm_up_counts')
    expect(counted).toEqual([{ recipients: 1 }])
  })

  it('does not wait for the dead relay of another domain, whatever its recipients', async () => {
    expect(await deferred(await sendFrom(stuck, someone('one.example')))).toBeDefined()
    const { connections } = dead
    const second = await sendFrom(stuck, someone('two.example'))
    await waitFor(() => countRows(fixture.db, `timers where payload ? 'suspended'`), { what: 'the second suspended' })
    expect(await rowOf(second)).toEqual({ state: 'queued', diagnostic: null })
    expect(dead.connections).toBe(connections)
    for (const from of [listed, direct, DOMAIN]) {
      await factOf(fixture, await sendFrom(from, someone('two.example')), 'delivery.delivered')
    }
  })
})
