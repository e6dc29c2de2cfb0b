import { randomUUID } from 'node:crypto'
import { waitFor } from '@restante/testkit'
import { shareOf } from '../../../src/timers/kinds.ts'
import { type Fixture, factOf, inboxCaller, startWorld } from '../../support/fixture.ts'
import { HostileServer } from '../../support/hostile-server.ts'

/** As many as there are workers for first attempts and for the queue. */
const SILENT = 40
const HOST = '127.0.9.245'
let fixture: Fixture

beforeAll(async () => {
  // No silent server is given up while a test lasts.
  fixture = await startWorld({ DELIVERY_ANSWER_TIMEOUT: '10m', RETRY_FIRST: '1s', RETRY_MOST: '1s' })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

/** An inbox of an organization whose mail takes turns with that of another one. */
function callerBeside(other?: string) {
  for (;;) {
    const organization_id = randomUUID()
    if (other === undefined || shareOf(organization_id) !== shareOf(other)) return inboxCaller({ organization_id })
  }
}

/** Inboxes of organizations of which each has a share of its own. */
function callersOfShares(count: number) {
  const callers = new Map<number, ReturnType<typeof inboxCaller>>()
  while (callers.size < count) {
    const caller = inboxCaller()
    callers.set(shareOf(caller.organization_id), caller)
  }
  return [...callers.values()]
}

async function send(caller: ReturnType<typeof inboxCaller>, to: string, world = fixture): Promise<string> {
  const answer = await world.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'words' } })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

describe('an organization that writes to many servers which are silent after DATA', () => {
  it('does not hold up first attempts and retries of another one', async () => {
    const server = await new HostileServer({ at: 'end of DATA', fault: 'hang', times: SILENT }).start(
      fixture.outside.port,
      HOST,
    )
    const silent = callerBeside()
    const other = callerBeside(silent.organization_id)
    fixture.zone.set('mx.silent.example', { type: 'A', address: HOST })
    for (let at = 0; at < SILENT; at++) {
      const domain = `silent-${at}.example`
      fixture.zone.set(domain, { type: 'MX', exchange: 'mx.silent.example', priority: 1 })
      await send(silent, `ann@${domain}`)
    }
    await waitFor(() => server.taken.length === SILENT, { what: 'all servers silent' })
    await factOf(fixture, await send(other, 'bo@healthy.example'), 'delivery.delivered')
    fixture.outside.answerRecipient('cy@healthy.example', '450 4.2.0 later')
    await factOf(fixture, await send(other, 'cy@healthy.example'), 'delivery.delivered')
    await server.stop()
  })
})

describe('organizations that together write to more silent servers than there are workers', () => {
  it('hold up first attempts and retries of another one for some seconds', async () => {
    // Of one organization three attempts at once, so that these have all eight workers.
    const crowded = await startWorld({
      DELIVERY_CONCURRENCY: '4',
      DELIVERY_ANSWER_TIMEOUT: '10m',
      RETRY_FIRST: '1s',
      RETRY_MOST: '1s',
    })
    crowded.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
    const server = await new HostileServer({ at: 'end of DATA', fault: 'hang', times: SILENT }).start(
      crowded.outside.port,
      HOST,
    )
    crowded.zone.set('mx.silent.example', { type: 'A', address: HOST })
    const conspiring = callersOfShares(4)
    const other = conspiring.pop() ?? inboxCaller()
    for (const [at, caller] of conspiring.flatMap((one) => [one, one, one]).entries()) {
      const domain = `silent-${at}.example`
      crowded.zone.set(domain, { type: 'MX', exchange: 'mx.silent.example', priority: 1 })
      await send(caller, `ann@${domain}`, crowded)
    }
    await waitFor(() => server.taken.length >= 8, { what: 'all workers at silent servers' })
    await factOf(crowded, await send(other, 'bo@healthy.example', crowded), 'delivery.delivered')
    crowded.outside.answerRecipient('cy@healthy.example', '450 4.2.0 later')
    await factOf(crowded, await send(other, 'cy@healthy.example', crowded), 'delivery.delivered')
    await waitFor(() => server.taken.length >= 9, { what: 'all silent mails' })
    // No session was cut off for it: the server would have a mail twice.
    expect(new Set(server.taken).size).toBe(server.taken.length)
    await server.stop()
    await crowded.stop()
  })
})
