import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { LIMITS } from '@restante/contracts/vocabulary'
import { byLength, underLoad, waitFor } from '@restante/testkit'
import { usageOfAll } from '../bench/load/processes.ts'
import type { System } from '../stack/system.ts'
import { type OutsidePeer, openPeer } from '../support/peers.ts'
import { createTenant, newUsername, type Tenant } from '../support/tenants.ts'

const MOST_AT_REST_MB = 200
const MOST_MB = 512
/** Longest response time of other requests in the meantime: 1 s on an idle machine. */
const ANSWERED_WITHIN_MS = 5_000
const TIMEOUT = { timeout: 120_000 }
/** Sizes of the concurrent loads. Each is more than one process could hold in memory. */
const MAILS = byLength({ short: 3, long: 4 })
const DOWNLOADS = byLength({ short: 4, long: 8 })
const REQUESTS = byLength({ short: 10, long: 20 })
const FETCHES = byLength({ short: 3, long: 6 })

const LINE = `${'QUJD'.repeat(19)}\r\n`
const FILE_LINES = Math.floor((LIMITS.inbound.bytes - 64 * 1024) / LINE.length)
const FILE_BYTES = FILE_LINES * 57

/** A mail of the largest allowed size, nearly all of it one file. */
const largestMail = Buffer.from(
  `From: ada@x.test\r\nSubject: large\r\nContent-Type: application/octet-stream; name=large\r\nContent-Transfer-Encoding: base64\r\n\r\n${LINE.repeat(FILE_LINES)}`,
)

/** The memory of idle services, before the first request. */
export function describeMemoryAtRest(systemOf: () => System): void {
  it(`is at most ${MOST_AT_REST_MB} MB at rest`, async () => {
    const resident = [...(await usageOfAll(systemOf()))].map(([name, usage]) => [name, Math.round(usage.residentMb)])
    expect(resident.filter(([, megabytes]) => Number(megabytes) > MOST_AT_REST_MB)).toEqual([])
  })
}

/** The memory of services under load. The mails are large, so suites that search the system run earlier. */
export function describeMemory(systemOf: () => System): void {
  let system: System
  let tenant: Tenant
  let peer: OutsidePeer
  beforeAll(async () => {
    system = systemOf()
    ;[tenant, peer] = await Promise.all([createTenant(system.endpoints), openPeer(system.endpoints)])
  })
  afterAll(() => peer?.stop())

  const newInboxes = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await tenant.client.inboxes.create({})).inboxId))

  /** Does the work and makes small requests in the meantime. @returns the longest response time, in ms. */
  async function duringRequests(work: Promise<unknown>): Promise<number> {
    const [inboxId = ''] = await newInboxes(1)
    let done = false
    let slowest = 0
    const asking = (async () => {
      while (!done) {
        const begun = performance.now()
        await tenant.client.inboxes.messages.list(inboxId)
        slowest = Math.max(slowest, performance.now() - begun)
        await wait(50)
      }
    })()
    await work.finally(() => {
      done = true
    })
    await asking
    return slowest
  }

  async function peaks(): Promise<Record<string, number>> {
    const usage = [...(await usageOfAll(system))]
    return Object.fromEntries(usage.map(([name, { peakMb }]) => [name, Math.round(peakMb)]))
  }

  async function expectBounded(slowest: number): Promise<void> {
    const found = await peaks()
    expect(Object.entries(found).filter(([, peakMb]) => peakMb > MOST_MB)).toEqual([])
    expect(slowest).toBeLessThan(underLoad(ANSWERED_WITHIN_MS))
  }

  it(`stays under ${MOST_MB} MB while the largest mails arrive together, and their files are taken together`, async () => {
    const inboxes = await newInboxes(MAILS)
    const send = (to: string) => peer.send({ envelope: { from: 'human@elsewhere.test', to }, raw: largestMail })
    const messages = async (inboxId: string) =>
      (await tenant.client.inboxes.messages.list(inboxId, { includeUnauthenticated: true })).messages
    const arrived = async () => (await Promise.all(inboxes.map(messages))).every(({ length }) => length === 1)
    const arriving = async () => {
      await Promise.all(inboxes.map(send))
      await waitFor(arrived, { what: 'all mails', ...TIMEOUT })
    }
    await expectBounded(await duringRequests(arriving()))

    const [inboxId = ''] = inboxes
    const [message] = await messages(inboxId)
    const messageId = message?.messageId ?? ''
    const attachmentId = message?.attachments?.[0]?.attachmentId ?? ''
    const { downloadUrl } = await tenant.client.inboxes.messages.getAttachment(inboxId, messageId, attachmentId)
    const downloads = Array.from({ length: DOWNLOADS }, () => sizeOf(downloadUrl))
    await expectBounded(await duringRequests(Promise.all(downloads)))
    expect(await Promise.all(downloads)).toEqual(downloads.map(() => FILE_BYTES))
  }, 180_000)

  it(`stays under ${MOST_MB} MB while the largest requests to send come together`, async () => {
    const [inboxId = ''] = await newInboxes(1)
    const content = Buffer.alloc((LIMITS.request.mailBody / 4) * 3 - 8 * 1024, 'file').toString('base64')
    const body = JSON.stringify({ to: peer.address(newUsername()), attachments: [{ filename: 'file.bin', content }] })
    const sends = Array.from({ length: REQUESTS }, () => send(inboxId, body))
    await expectBounded(await duringRequests(Promise.all(sends)))
    expect(await Promise.all(sends)).toEqual(sends.map(() => 200))
  }, 180_000)

  it(`stays under ${MOST_MB} MB while the largest files are fetched together`, async () => {
    const [inboxId = ''] = await newInboxes(1)
    const file = Buffer.alloc(LIMITS.send.fetchedBytes - 64 * 1024, 'file')
    const server = createServer((_request, response) => response.end(file)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const body = JSON.stringify({ to: inboxId, attachments: [{ filename: 'f', url: `http://127.0.0.1:${port}/` }] })
    const sends = Array.from({ length: FETCHES }, () => send(inboxId, body))
    await expectBounded(await duringRequests(Promise.all(sends)))
    expect(await Promise.all(sends)).toEqual(sends.map(() => 200))
    server.close()
  }, 180_000)

  /** Retries a request that is rejected for lack of memory, as clients do. */
  async function send(inboxId: string, body: string): Promise<number> {
    const { status, headers } = await tenant.api.post(`/v0/inboxes/${inboxId}/messages/send`, undefined, { body })
    if (status !== 503) return status
    await wait(Number(headers.get('retry-after')) * 1_000)
    return send(inboxId, body)
  }
}

async function sizeOf(url: string): Promise<number> {
  const response = await fetch(url)
  let size = 0
  for await (const chunk of response.body ?? []) size += chunk.length
  return size
}
