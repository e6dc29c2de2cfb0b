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

async function send(caller: ReturnType<typeof inboxCaller>, to: string): Promise<string> {
  const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'words' } })
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
