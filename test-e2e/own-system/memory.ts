import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { LIMITS } from '@restante/contracts/vocabulary'
import { byLength, waitFor } from '@restante/testkit'
import { usageOfAll } from '../bench/load/processes.ts'
import type { System } from '../stack/system.ts'
import { type OutsidePeer, openPeer } from '../support/peers.ts'
import { createTenant, newUsername, type Tenant } from '../support/tenants.ts'
import { Bounds, MOST_MB } from './bounds.ts'
import { FILE_BYTES, largestMail, sizeOf } from './large-mails.ts'

const MOST_AT_REST_MB = 200
/** Longest response time of other requests in the meantime: 1 s on an idle machine. */
const ANSWERED_WITHIN_MS = 5_000
const TIMEOUT = { timeout: 120_000 }
/** Sizes of the concurrent loads. Each is more than one process could hold in memory. */
const MAILS = byLength({ short: 3, long: 4 })
const DOWNLOADS = byLength({ short: 4, long: 8 })
const REQUESTS = byLength({ short: 10, long: 20 })
const FETCHES = byLength({ short: 3, long: 6 })

/** The memory of idle services, before the first request. */
export function describeMemoryAtRest(systemOf: () => System): void {
  it(`is at most ${MOST_AT_REST_MB} MB at rest`, async () => {
    const system = systemOf()
    async function above() {
      const usage = [...(await usageOfAll(system))]
      const resident = usage.map(([name, { residentMb }]) => [name, Math.round(residentMb)] as const)
      return resident.filter(([, megabytes]) => megabytes > MOST_AT_REST_MB)
    }
    // Only the first start of a service after a change has the compiler in memory. Images contain what it has compiled.
    const first = await above()
    for (const [name] of first) {
      const process = system.process(name)
      await process.stop()
      process.start()
      await process.ready()
    }
    expect(first.length > 0 ? await above() : first).toEqual([])
  })
}

/** The memory of services under load. The mails are large, so suites that search the system run earlier. */
export function describeMemory(systemOf: () => System): void {
  let tenant: Tenant
  let peer: OutsidePeer
  let bounds: Bounds
  beforeAll(async () => {
    const system = systemOf()
    const opened = [createTenant(system.endpoints), openPeer(system.endpoints), Bounds.of(system)] as const
    ;[tenant, peer, bounds] = await Promise.all(opened)
  })
  afterAll(() => peer?.stop())

  const newInboxes = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await tenant.client.inboxes.create({})).inboxId))

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
    await bounds.during(arriving(), ANSWERED_WITHIN_MS)

    const [inboxId = ''] = inboxes
    const [message] = await messages(inboxId)
    const messageId = message?.messageId ?? ''
    const attachmentId = message?.attachments?.[0]?.attachmentId ?? ''
    const { downloadUrl } = await tenant.client.inboxes.messages.getAttachment(inboxId, messageId, attachmentId)
    const downloads = Array.from({ length: DOWNLOADS }, () => sizeOf(downloadUrl))
    await bounds.during(Promise.all(downloads), ANSWERED_WITHIN_MS)
    expect(await Promise.all(downloads)).toEqual(downloads.map(() => FILE_BYTES))
  }, 600_000)

  it(`stays under ${MOST_MB} MB while the largest requests to send come together`, async () => {
    const [inboxId = ''] = await newInboxes(1)
    const content = Buffer.alloc((LIMITS.request.mailBody / 4) * 3 - 8 * 1024, 'file').toString('base64')
    const body = JSON.stringify({ to: peer.address(newUsername()), attachments: [{ filename: 'file.bin', content }] })
    const sends = Array.from({ length: REQUESTS }, () => send(inboxId, body))
    await bounds.during(Promise.all(sends), ANSWERED_WITHIN_MS)
    expect(await Promise.all(sends)).toEqual(sends.map(() => 200))
  }, 600_000)

  it(`stays under ${MOST_MB} MB while the largest files are fetched together`, async () => {
    const [inboxId = ''] = await newInboxes(1)
    const file = Buffer.alloc(LIMITS.send.fetchedBytes - 64 * 1024, 'file')
    const server = createServer((_request, response) => response.end(file)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const body = JSON.stringify({ to: inboxId, attachments: [{ filename: 'f', url: `http://127.0.0.1:${port}/` }] })
    const sends = Array.from({ length: FETCHES }, () => send(inboxId, body))
    await bounds.during(Promise.all(sends), ANSWERED_WITHIN_MS)
    expect(await Promise.all(sends)).toEqual(sends.map(() => 200))
    server.close()
  }, 600_000)

  /** Retries a request that is rejected for lack of memory, as clients do. */
  async function send(inboxId: string, body: string): Promise<number> {
    const { status, headers } = await tenant.api.post(`/v0/inboxes/${inboxId}/messages/send`, undefined, { body })
    if (status !== 503) return status
    await wait(Number(headers.get('retry-after')) * 1_000)
    return send(inboxId, body)
  }
}
