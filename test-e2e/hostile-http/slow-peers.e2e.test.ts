import { underLoad, waitFor } from '@restante/testkit'
import type { Answer } from '../support/api.ts'
import { useSystem } from '../support/suite.ts'
import { headOf, RawSocket } from './raw-socket.ts'

/** Concurrent slow clients of each kind. */
const PEERS = 150
/** A mail that is larger than the socket buffers for a client that does not read. */
const LARGE = 'x'.repeat(3_900_000)

describe('while hundreds of clients are slow on purpose', () => {
  const system = useSystem()
  const peers: RawSocket[] = []
  const timers: NodeJS.Timeout[] = []

  afterAll(() => {
    for (const timer of timers) clearInterval(timer)
    for (const { socket } of peers) socket.destroy()
  })

  function open(...written: string[]): RawSocket {
    const raw = RawSocket.to(system.endpoints.gatewayUrl, ...written)
    peers.push(raw)
    return raw
  }

  function many(make: () => RawSocket): RawSocket[] {
    return Array.from({ length: PEERS }, make)
  }

  /** Ordinary requests to the services that the slow clients occupy, and to the edge itself. */
  async function othersAreAnswered(): Promise<void> {
    const { api } = system.tenant
    const { inboxId } = inbox
    for (const path of ['/v0/auth/me', '/v0/threads', '/v0/webhooks', `/v0/inboxes/${inboxId}/messages`]) {
      await withinASecond(() => api.get(path), 200)
    }
    await withinASecond(() => api.post(`/v0/inboxes/${inboxId}/messages/send`, {}), 422)
  }

  /** The best of three measurements, because other tests run on the same machine. */
  async function withinASecond(ask: () => Promise<Answer>, status: number): Promise<void> {
    const times: number[] = []
    for (let attempt = 0; attempt < 3; attempt++) {
      const began = performance.now()
      const answer = await ask()
      expect({ status: answer.status, ...(answer.status !== status && { body: answer.body }) }).toEqual({ status })
      times.push(performance.now() - began)
    }
    expect(Math.min(...times)).toBeLessThan(underLoad(1_000))
  }

  let inbox: { readonly inboxId: string; readonly download: string }
  beforeAll(async () => {
    const { tenant } = system
    const { inboxId } = await tenant.client.inboxes.create({})
    const sent = await tenant.api.post(`/v0/inboxes/${inboxId}/messages/send`, { to: [inboxId], text: LARGE })
    const path = `/v0/inboxes/${inboxId}/messages/${encodeURIComponent(String(sent.body['message_id']))}/raw`
    const raw = await waitFor(
      async () => {
        const answer = await tenant.api.get(path)
        return answer.status === 200 && answer
      },
      { what: 'the mail to be stored' },
    )
    inbox = { inboxId, download: new URL(String(raw.body['download_url'])).pathname }
  })

  it('with the headers of their requests, all others are answered within a second', async () => {
    const slow = many(() => open('GET /v0/auth/me HTTP/1.1\r\nX-Slow: '))
    timers.push(setInterval(() => slow.map(({ socket }) => socket.write('a')), 200))
    await othersAreAnswered()
    await Promise.all(slow.map((raw) => raw.ends()))
    for (const { text } of slow) expect(text).toMatch(/^HTTP\/1\.1 408 /)
    await othersAreAnswered()
  })

  it('with the bodies of requests that a service behind the edge reads, too', async () => {
    const send = `POST /v0/inboxes/${inbox.inboxId}/messages/send HTTP/1.1`
    const slow = many(() => open(headOf(send, system.tenant.key, 'Content-Length: 1000000'), '{"text":"'))
    timers.push(setInterval(() => slow.map(({ socket }) => socket.write('a')), 200))
    await othersAreAnswered()
  })

  it('with responses that they do not read, too', async () => {
    const slow = many(() => open(`GET ${inbox.download} HTTP/1.1\r\nHost: edge\r\n\r\n`))
    for (const { socket } of slow) socket.pause()
    await othersAreAnswered()
  })
})
