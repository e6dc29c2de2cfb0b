import { byLength, PATIENCE_MS, waitFor } from '@restante/testkit'
import type { AgentMail } from 'agentmail'
import type { System } from '../stack/system.ts'
import { mailTo } from '../support/mail.ts'
import { type OutsidePeer, openPeer } from '../support/peers.ts'
import { createTenant, type Tenant } from '../support/tenants.ts'
import { Bounds, MOST_MB } from './bounds.ts'
import { FILE_BYTES, largestMail, mailOfFiles, sizeOf } from './large-mails.ts'
import { lengthenThread, rowsOfThread } from './long-thread.ts'

/** Longest response time of other requests in the meantime. */
const ANSWERED_WITHIN_MS = 1_000
const FILES = 200
/** Files that a client downloads at a time. */
const AT_ONCE = 10
const MESSAGES = byLength({ short: 2_000, long: 20_000 })
const TIMEOUT_MS = 180_000

/** The largest things that a mailbox holds: read, listed, downloaded and deleted. */
export function describeLargeMailbox(systemOf: () => System): void {
  let system: System
  let tenant: Tenant
  let peer: OutsidePeer
  let bounds: Bounds
  let inboxId: string

  beforeAll(async () => {
    system = systemOf()
    const opened = [createTenant(system.endpoints), openPeer(system.endpoints), Bounds.of(system)] as const
    ;[tenant, peer, bounds] = await Promise.all(opened)
  })
  afterAll(() => peer?.stop())
  beforeEach(async () => {
    inboxId = (await tenant.client.inboxes.create({})).inboxId
  })

  const listed = async () =>
    (await tenant.client.inboxes.messages.list(inboxId, { includeUnauthenticated: true })).messages
  const threads = async () =>
    (await tenant.client.inboxes.threads.list(inboxId, { includeUnauthenticated: true })).threads

  async function received(raw: Buffer): Promise<AgentMail.MessageItem> {
    await peer.send({ envelope: { from: 'human@elsewhere.test', to: inboxId }, raw })
    return waitFor(async () => (await listed())[0], { what: 'the mail', timeout: 2 * PATIENCE_MS })
  }
  const textOf = async (messageId: string, { attachmentId }: AgentMail.Attachment) => {
    const link = await tenant.client.inboxes.messages.getAttachment(inboxId, messageId, attachmentId)
    return (await fetch(link.downloadUrl)).text()
  }
  const rawOf = async (id: string) => {
    const { downloadUrl, size } = await tenant.client.inboxes.messages.getRaw(inboxId, id)
    return { size, downloaded: await sizeOf(downloadUrl) }
  }

  it(
    `takes under ${MOST_MB} MB, and no other request a second, for a message of 40 MB`,
    async () => {
      const work = async () => {
        const { messageId } = await received(largestMail)
        const { attachments = [] } = await tenant.client.inboxes.messages.get(inboxId, messageId)
        const [file] = attachments
        const link = await tenant.client.inboxes.messages.getAttachment(inboxId, messageId, file?.attachmentId ?? '')
        expect(await sizeOf(link.downloadUrl)).toBe(FILE_BYTES)
        const { size, downloaded } = await rawOf(messageId)
        expect(downloaded).toBe(size)
        await tenant.client.inboxes.messages.delete(inboxId, messageId)
        expect([await listed(), await threads()]).toEqual([[], []])
      }
      await bounds.during(work(), ANSWERED_WITHIN_MS)
    },
    TIMEOUT_MS,
  )

  it(
    `takes under ${MOST_MB} MB, and no other request a second, for a message with ${FILES} files`,
    async () => {
      const work = async () => {
        const { messageId, attachments: inList = [] } = await received(mailOfFiles(FILES))
        const { attachments = [] } = await tenant.client.inboxes.messages.get(inboxId, messageId)
        expect([inList.length, attachments.length]).toEqual([FILES, FILES])
        const texts: string[] = []
        for (let at = 0; at < FILES; at += AT_ONCE) {
          texts.push(...(await Promise.all(attachments.slice(at, at + AT_ONCE).map((file) => textOf(messageId, file)))))
        }
        expect(texts.map((text) => text.trim())).toEqual(texts.map((_, number) => `Content of file ${number}.`))
        const { size, downloaded } = await rawOf(messageId)
        expect(downloaded).toBe(size)
        await tenant.client.inboxes.messages.delete(inboxId, messageId)
        expect([await listed(), await threads()]).toEqual([[], []])
      }
      await bounds.during(work(), ANSWERED_WITHIN_MS)
    },
    TIMEOUT_MS,
  )

  it(
    `takes under ${MOST_MB} MB, and no other request a second, for a thread of ${MESSAGES} messages`,
    async () => {
      const { messageId, threadId } = await mailTo({ tenant, peer }, inboxId)
      await lengthenThread(system.endpoints, threadId, MESSAGES - 1)
      const pages = async () => {
        const path = `/v0/inboxes/${encodeURIComponent(inboxId)}/threads/${threadId}`
        let read = 0
        for (let next = ''; read === 0 || next !== ''; ) {
          const { status, body } = await tenant.api.get(
            `${path}?limit=100${next && `&page_token=${encodeURIComponent(next)}`}`,
          )
          expect(status).toBe(200)
          read += Number(body['count'])
          next = String(body['next_page_token'] ?? '')
        }
        return read
      }
      const work = async () => {
        expect(await pages()).toBe(MESSAGES)
        expect(await threads()).toMatchObject([{ threadId, messageCount: MESSAGES }])
        expect(await listed()).toHaveLength(50)
        const { size, downloaded } = await rawOf(messageId)
        expect(downloaded).toBe(size)
        await mailTo({ tenant, peer }, inboxId, { inReplyTo: messageId })
        expect(await threads()).toMatchObject([{ threadId, messageCount: MESSAGES + 1 }])
        await tenant.client.inboxes.threads.delete(inboxId, threadId)
        expect([await listed(), await threads()]).toEqual([[], []])
        expect(await rowsOfThread(system.endpoints, threadId)).toBe(0)
      }
      await bounds.during(work(), ANSWERED_WITHIN_MS)
    },
    TIMEOUT_MS,
  )
}
