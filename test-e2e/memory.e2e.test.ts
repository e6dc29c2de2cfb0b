import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { LIMITS, SERVICES, type ServiceName } from '@restante/contracts'
import { root } from '@restante/local/settings.ts'
import { serviceCommand } from '@restante/service'
import { waitFor } from '@restante/testkit'
import { usageOfAll } from './bench/load/processes.ts'
import { START_TIMEOUT } from './stack/connect.ts'
import { currentRun } from './stack/run.ts'
import { System } from './stack/system.ts'
import { type OutsidePeer, openPeer } from './support/peers.ts'
import { createTenant, newUsername, type Tenant } from './support/tenants.ts'

/** The memory of its processes is looked at, so the system is this file's own. */
const state = `${currentRun().folder}-memory`
const MOST_AT_REST_MB = 200
const MOST_MB = 512
/** What others wait for an answer meanwhile: 1 s on a machine of one's own, more where tests share theirs. */
const ANSWERED_WITHIN_MS = 5_000
const PATIENCE = { timeout: 120_000 }

const LINE = `${'QUJD'.repeat(19)}\r\n`
const FILE_LINES = Math.floor((LIMITS.inbound.bytes - 64 * 1024) / LINE.length)
const FILE_BYTES = FILE_LINES * 57

/** As large as mail may be, nearly all of it one file. */
const largestMail = Buffer.from(
  `From: ada@x.test\r\nSubject: large\r\nContent-Type: application/octet-stream; name=large\r\nContent-Transfer-Encoding: base64\r\n\r\n${LINE.repeat(FILE_LINES)}`,
)

/** Loads a service without running it, as its image does: the compiler is in the memory of a first start only. */
async function compile(service: ServiceName): Promise<void> {
  const load = ['--input-type=module', '--eval', 'await import(process.argv[1])']
  const [program, ...args] = serviceCommand(path.join(root, 'services', service, 'src/main.ts'), load)
  await promisify(execFile)(program, args)
}

describe('the memory of each service', () => {
  let system: System
  let tenant: Tenant
  let peer: OutsidePeer
  beforeAll(async () => {
    await Promise.all(SERVICES.map(compile))
    system = await System.start(state)
    ;[tenant, peer] = await Promise.all([createTenant(system.place), openPeer(system.place)])
  }, START_TIMEOUT)
  afterAll(async () => {
    await peer?.stop()
    await system?.stop()
    await rm(state, { recursive: true, force: true })
  }, START_TIMEOUT)

  const newInboxes = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await tenant.client.inboxes.create({})).inboxId))

  /** Does the work and asks small things all the while. @returns the longest time that an answer took, in ms. */
  async function besides(work: Promise<unknown>): Promise<number> {
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
    expect(slowest).toBeLessThan(ANSWERED_WITHIN_MS)
  }

  it(`is at most ${MOST_AT_REST_MB} MB at rest`, async () => {
    const resident = [...(await usageOfAll(system))].map(([name, usage]) => [name, Math.round(usage.residentMb)])
    expect(resident.filter(([, megabytes]) => Number(megabytes) > MOST_AT_REST_MB)).toEqual([])
  })

  it(`stays under ${MOST_MB} MB while the largest mails arrive together, and their files are taken together`, async () => {
    const inboxes = await newInboxes(4)
    const send = (to: string) => peer.send({ envelope: { from: 'human@elsewhere.test', to }, raw: largestMail })
    const messages = async (inboxId: string) =>
      (await tenant.client.inboxes.messages.list(inboxId, { includeUnauthenticated: true })).messages
    const arrived = async () => (await Promise.all(inboxes.map(messages))).every(({ length }) => length === 1)
    const arriving = async () => {
      await Promise.all(inboxes.map(send))
      await waitFor(arrived, { what: 'all mails', ...PATIENCE })
    }
    await expectBounded(await besides(arriving()))

    const [inboxId = ''] = inboxes
    const [message] = await messages(inboxId)
    const messageId = message?.messageId ?? ''
    const attachmentId = message?.attachments?.[0]?.attachmentId ?? ''
    const { downloadUrl } = await tenant.client.inboxes.messages.getAttachment(inboxId, messageId, attachmentId)
    const downloads = Array.from({ length: 8 }, () => sizeOf(downloadUrl))
    await expectBounded(await besides(Promise.all(downloads)))
    expect(await Promise.all(downloads)).toEqual(downloads.map(() => FILE_BYTES))
  }, 180_000)

  it(`stays under ${MOST_MB} MB while the largest requests to send come together`, async () => {
    const [inboxId = ''] = await newInboxes(1)
    const content = Buffer.alloc((LIMITS.request.mailBody / 4) * 3 - 8 * 1024, 'file').toString('base64')
    const body = JSON.stringify({ to: peer.address(newUsername()), attachments: [{ filename: 'file.bin', content }] })
    const sends = Array.from({ length: 20 }, () => send(inboxId, body))
    await expectBounded(await besides(Promise.all(sends)))
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
    const sends = Array.from({ length: 6 }, () => send(inboxId, body))
    await expectBounded(await besides(Promise.all(sends)))
    expect(await Promise.all(sends)).toEqual(sends.map(() => 200))
    server.close()
  }, 180_000)

  /** Who is told that there is no room now comes again, as clients do. */
  async function send(inboxId: string, body: string): Promise<number> {
    const { status, headers } = await tenant.api.post(`/v0/inboxes/${inboxId}/messages/send`, undefined, { body })
    if (status !== 503) return status
    await wait(Number(headers.get('retry-after')) * 1_000)
    return send(inboxId, body)
  }
})

async function sizeOf(url: string): Promise<number> {
  const response = await fetch(url)
  let size = 0
  for await (const chunk of response.body ?? []) size += chunk.length
  return size
}
