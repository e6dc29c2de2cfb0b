import { randomUUID } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { sql } from '@restante/service/database'
import { callerHeaders, leastOf, slowRequest, waitFor } from '@restante/testkit'
import { CALLER_KEY, type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'

type Confirmation = InternalResponseOf<'gateway.confirmCaller'>
type Confirm = (request: InternalRequestOf<'gateway.confirmCaller'>) => Promise<Confirmation | number>

const countSends = sql<{ count: number }, [organizationId: string]>(
  'select count(*)::int as count from sends where organization_id = $1',
)

type SendingCaller = ReturnType<typeof inboxCaller>

const confirmed: Confirm = async ({ caller }) => ({ status: 'confirmed', caller })
const CHANGES: [title: string, confirm: Confirm, answer: object][] = [
  [
    '401 when the key was deleted, or the organization taken over',
    async () => ({ status: 'refused', code: 'unknown_api_key', message: 'API key not recognized' }),
    { status: 401, body: { code: 'unknown_api_key' } },
  ],
  [
    '403 when the inbox was paused',
    async ({ caller }) => ({
      status: 'confirmed',
      caller: { ...caller, ...(caller.inbox && { inbox: { ...caller.inbox, paused: true } }) },
    }),
    { status: 403, body: { code: 'inbox_paused' } },
  ],
  [
    '403 when the organization was suspended',
    async ({ caller }) => ({ status: 'confirmed', caller: { ...caller, sending: 'suspended' } }),
    { status: 403, body: { code: 'message_rejected' } },
  ],
  ['503 when the gateway does not answer', async () => 503, { status: 503, body: { code: 'service_unavailable' } }],
]

describe('a slow send', () => {
  let fixture: Fixture
  let files: Server
  const fetched = new Map<string, ServerResponse>()

  beforeAll(async () => {
    fixture = await startWorld({ ATTACHMENT_TIMEOUT: '5m' })
    files = createServer((request, response) => void fetched.set(request.url ?? '', response))
    await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    files.close()
    await fixture.stop()
  })
  beforeEach(() => {
    fixture.peers.calls.length = 0
  })

  const someone = () => `ann-${randomUUID().slice(0, 8)}@outside.example`
  const answerWith = (confirm: Confirm) => {
    fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}), 'gateway.confirmCaller': confirm }
  }
  /** Sends for each change, all at the same time, because each waits until its caller is out of date. */
  async function sendForEach(send: (caller: SendingCaller, at: number) => Promise<object>) {
    const callers = CHANGES.map(() => inboxCaller())
    answerWith(async (request) => {
      const at = callers.findIndex(({ organization_id }) => organization_id === request.caller.organization_id)
      return CHANGES[at]?.[1](request) ?? 500
    })
    return Promise.all(callers.map(async (caller, at) => ({ caller, answer: await send(caller, at) })))
  }
  const sendsOf = async ({ organization_id }: { organization_id: string }) =>
    (await fixture.db.query(countSends, organization_id))[0]?.count
  const begin = (caller: ReturnType<typeof inboxCaller>) =>
    slowRequest(
      'POST',
      `http://127.0.0.1:${fixture.config.http.port}/messages/send`,
      callerHeaders('mail-send', CALLER_KEY, 'messages.send', caller),
      { to: someone(), text: 'late' },
    )

  async function expectRefused(sent: { caller: SendingCaller; answer: object } | undefined, answer: object) {
    expect(sent?.answer).toMatchObject(answer)
    expect(sent && (await sendsOf(sent.caller))).toBe(0)
  }

  describe('with a slow body', () => {
    let sent: Awaited<ReturnType<typeof sendForEach>>
    beforeAll(async () => {
      sent = await sendForEach(async (caller) => (await begin(caller))())
    })

    it.each(CHANGES.map(([title, , answer], at) => ({ title, answer, at })))(
      'is answered $title',
      async ({ answer, at }) => expectRefused(sent[at], answer),
    )

    it('is accepted when nothing has changed', async () => {
      answerWith(confirmed)
      const caller = inboxCaller()
      const finish = await begin(caller)
      expect(await finish()).toMatchObject({ status: 200 })
      const [asked, ...again] = fixture.peers.requests('gateway.confirmCaller')
      expect(asked).toEqual({ operation: 'messages.send', caller })
      // It is asked again when a second passes before the message is accepted.
      for (const one of again) expect(one).toEqual(asked)
    })
  })

  it('is accepted when the gateway takes seconds to confirm the caller, as it does under load', async () => {
    answerWith(async (request) => {
      await sleep(2_500)
      return confirmed(request)
    })
    // A machine that stands still meanwhile makes it longer than seconds.
    await waitFor(async () => (await (await begin(inboxCaller()))()).status === 200, {
      what: 'a send that is accepted',
    })
  })

  describe('with a slow attachment', () => {
    let sent: Awaited<ReturnType<typeof sendForEach>>
    beforeAll(async () => {
      const { port } = files.address() as AddressInfo
      sent = await sendForEach(async (caller, at) => {
        const attachments = [{ url: `http://127.0.0.1:${port}/file-${at}` }]
        const body = { to: someone(), text: 'late', attachments }
        const began = performance.now()
        const answered = fixture.call('messages.send', caller, { path: '/messages/send', body })
        const file = await waitFor(() => fetched.get(`/file-${at}`), { what: 'the request for the file' })
        await waitFor(() => performance.now() - began > 1_200, { what: 'the caller to be out of date' })
        file.end('content')
        return answered
      })
    })

    it.each(CHANGES.map(([title, , answer], at) => ({ title, answer, at })))(
      'is answered $title',
      async ({ answer, at }) => expectRefused(sent[at], answer),
    )
  })

  it('does not ask the gateway when it is fast', async () => {
    answerWith(confirmed)
    const questions = await leastOf(1, async () => {
      const caller = inboxCaller()
      const request = { path: '/messages/send', body: { to: someone(), text: 'at once' } }
      expect((await fixture.call('messages.send', caller, request)).status).toBe(200)
      const asked = fixture.peers.requests('gateway.confirmCaller')
      return asked.filter((one) => one.caller.organization_id === caller.organization_id).length
    })
    expect(questions).toBe(0)
  })
})
