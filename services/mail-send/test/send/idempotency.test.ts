import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { type Answer, type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../support/fixture.ts'
import { listenOn } from '../support/listen.ts'

let fixture: Fixture

beforeAll(async () => {
  // No file here is given up while it is held back.
  fixture = await startWorld({ ATTACHMENT_TIMEOUT: '5m' })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

type SendingCaller = ReturnType<typeof inboxCaller>

function someone(): string {
  return `ann-${randomUUID().slice(0, 8)}@outside.example`
}

function send(caller: SendingCaller, body: unknown, key: string): Promise<Answer> {
  return fixture.call('messages.send', caller, { path: '/messages/send', body, key })
}

function age(organizationId: string, change: { leasedUntil?: Date; completedAt?: Date }) {
  return queryRows(
    fixture.db,
    `update idempotency_keys
        set leased_until = coalesce($2, leased_until), completed_at = coalesce($3, completed_at)
      where organization_id = $1`,
    organizationId,
    change.leasedUntil,
    change.completedAt,
  )
}

const ago = (ms: number) => new Date(Date.now() - ms)
const CONFLICT = { status: 409, body: { code: 'conflict', name: 'IdempotencyKeyConflictError' } }

describe('an Idempotency-Key', () => {
  it('sends one mail when 100 requests with it arrive at once', async () => {
    const caller = inboxCaller()
    const to = someone()
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(caller, { to, text: 'once' }, key)))
    const accepted = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(accepted.length).toBeGreaterThan(0)
    expect(new Set(accepted.map(({ body }) => body['message_id'])).size).toBe(1)
    for (const answer of refused) {
      expect(answer).toMatchObject(CONFLICT)
      expect(answer.headers.get('x-should-retry')).toBe('true')
    }
    await factOf(fixture, accepted[0]?.body['message_id'], 'delivery.delivered')
    expect(fixture.outside.mailsTo(to)).toHaveLength(1)
    expect(await countRows(fixture.db, 'sends where inbox_uid = $1', caller.inbox.uid)).toBe(1)
    const repeated = await Promise.all(answers.map(() => send(caller, { to, text: 'once' }, key)))
    for (const answer of repeated) expect(answer).toMatchObject({ status: 200, body: accepted[0]?.body })
  })

  it('answers the original ids when the request is repeated, with nothing new', async () => {
    const caller = inboxCaller()
    const to = someone()
    const key = randomUUID()
    const first = await send(caller, { to, text: 'once', headers: { 'X-A': '1', 'X-B': '2' } }, key)
    await factOf(fixture, first.body['message_id'], 'delivery.delivered')
    const again = await send(caller, { headers: { 'X-B': '2', 'X-A': '1' }, text: 'once', to: [to] }, key)
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(factsAbout(fixture, first.body['message_id'])).toHaveLength(3)
    expect(fixture.outside.mailsTo(to)).toHaveLength(1)
    expect(await countRows(fixture.db, 'sends where inbox_uid = $1', caller.inbox.uid)).toBe(1)
  })

  it('is replayed before any check of what has changed since', async () => {
    const caller = inboxCaller()
    const body = { to: someone(), text: 'once' }
    const key = randomUUID()
    const first = await send(caller, body, key)
    const paused = { ...caller, inbox: { ...caller.inbox, paused: true } }
    expect(await send(paused, body, key)).toMatchObject({ status: 200, body: first.body })
  })

  it('conflicts permanently with other content, another inbox or another operation', async () => {
    const caller = inboxCaller()
    const body = { to: someone(), text: 'once' }
    const key = randomUUID()
    await send(caller, body, key)
    const sibling = { ...caller, inbox: inboxCaller().inbox }
    const others = await Promise.all([
      send(caller, { ...body, text: 'twice' }, key),
      send(sibling, body, key),
      fixture.call('messages.reply', caller, { path: '/messages/%3C1%40x.example%3E/reply', body, key }),
    ])
    for (const answer of others) {
      expect(answer).toMatchObject(CONFLICT)
      expect(answer.headers.get('x-should-retry')).toBe('false')
    }
  })

  it('can be used by another organization as well', async () => {
    const key = randomUUID()
    expect((await send(inboxCaller(), { to: someone() }, key)).status).toBe(200)
    expect((await send(inboxCaller(), { to: someone() }, key)).status).toBe(200)
  })

  it('of an earlier holder replays nothing to a successor of the organization, nor the other way round', async () => {
    const caller = inboxCaller()
    const heir = { ...caller, take_overs: 1 }
    const body = { to: someone(), text: 'once' }
    const key = randomUUID()
    const first = await send(caller, body, key)
    const second = await send(heir, body, key)
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.body['message_id']).not.toBe(first.body['message_id'])
    expect(await send(heir, body, key)).toMatchObject({ status: 200, body: second.body })
    expect(await send(caller, body, key)).toMatchObject({ status: 401, body: { code: 'unknown_api_key' } })
  })

  it('is free at once after a refusal', async () => {
    const caller = inboxCaller()
    const key = randomUUID()
    expect((await send(caller, { text: 'nobody' }, key)).status).toBe(422)
    expect((await send(caller, { to: someone(), text: 'somebody' }, key)).status).toBe(200)
  })

  it('stays claimed after a crash until its lease ends', async () => {
    const caller = inboxCaller()
    const body = { to: someone(), text: 'once' }
    const key = randomUUID()
    await crashedClaim(caller, key)
    expect(await send(caller, body, key)).toMatchObject(CONFLICT)
    await age(caller.organization_id, { leasedUntil: ago(1) })
    expect((await send(caller, body, key)).status).toBe(200)
  })

  it('is reusable 24 hours after completion', async () => {
    const caller = inboxCaller()
    const key = randomUUID()
    const first = await send(caller, { to: someone(), text: 'yesterday' }, key)
    await age(caller.organization_id, { completedAt: ago(24 * 3_600_000 + 1) })
    const second = await send(caller, { to: someone(), text: 'today' }, key)
    expect(second.status).toBe(200)
    expect(second.body['message_id']).not.toBe(first.body['message_id'])
  })

  it('stays claimed by a slow request, however long it takes', async () => {
    const caller = inboxCaller()
    const key = randomUUID()
    const { url, serve } = await slowFile()
    const slow = send(caller, { to: someone(), attachments: [{ url }] }, key)
    await waitFor(async () => (await claims(caller)) === 1, { what: 'the claim' })
    const soon = new Date(Date.now() + 8_000)
    await age(caller.organization_id, { leasedUntil: soon })
    const longer = 'idempotency_keys where organization_id = $1 and leased_until > $2'
    const renewed = () => countRows(fixture.db, longer, caller.organization_id, soon)
    await waitFor(async () => (await renewed()) === 1, { what: 'a longer lease' })
    serve()
    expect((await slow).status).toBe(200)
  })

  it('does not let a request commit whose lease has ended', async () => {
    const caller = inboxCaller()
    const to = someone()
    const key = randomUUID()
    const { url, serve } = await slowFile()
    const slow = send(caller, { to, text: 'late', attachments: [{ url }] }, key)
    await waitFor(async () => (await claims(caller)) === 1, { what: 'the claim' })
    // The slow request may renew its lease in between.
    const other = await waitFor(
      async () => {
        await age(caller.organization_id, { leasedUntil: ago(1) })
        const answer = await send(caller, { to, text: 'first' }, key)
        return answer.status === 200 && answer
      },
      { what: 'the claim of another request' },
    )
    serve()
    expect(await slow).toMatchObject(CONFLICT)
    expect(await send(caller, { to, text: 'first' }, key)).toMatchObject({ status: 200, body: other.body })
    expect(await countRows(fixture.db, 'sends where inbox_uid = $1', caller.inbox.uid)).toBe(1)
  })
})

/** A file that is served only when the test releases it. */
async function slowFile(): Promise<{ url: string; serve: () => void }> {
  const gate = Promise.withResolvers<void>()
  const server = createServer(async (_request, response) => {
    await gate.promise
    response.end('file')
    server.close()
  })
  return { url: `http://127.0.0.1:${await listenOn(server)}/`, serve: gate.resolve }
}

function claims(caller: SendingCaller): Promise<number> {
  return countRows(fixture.db, 'idempotency_keys where inbox_uid = $1', caller.inbox.uid)
}

/** The claim left by a process that died in the middle of a send. */
async function crashedClaim(caller: SendingCaller, key: string): Promise<void> {
  await queryRows(
    fixture.db,
    'insert into idempotency_keys (organization_id, key, inbox_uid, fingerprint, lease_id, leased_until) values ($1, $2, $3, $4, $5, $6)',
    caller.organization_id,
    key,
    caller.inbox.uid,
    'of a request that was never finished',
    randomUUID(),
    new Date(Date.now() + 60_000),
  )
}
