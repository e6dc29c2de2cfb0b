import { waitFor } from '@restante/testkit'
import type { Endpoints } from '../stack/endpoints.ts'
import type { Sources } from '../stack/sources.ts'
import { newDomainName } from '../support/organizations.ts'
import type { OutsidePeer } from '../support/peers.ts'
import { eventAbout, openStream } from '../support/streams.ts'
import { clientOf, newUsername, type Tenant } from '../support/tenants.ts'

/** An organization beside the one whose mail is counted. */
export interface Bystander {
  readonly endpoints: Endpoints
  readonly tenant: Tenant
  readonly peer: OutsidePeer
}

/**
 * Uses what an installation offers beside the mail that flows: inboxes, messages with files, streams, drafts, lists,
 * keys and domains.
 * @param when marks the mails of this call.
 */
export async function useEverything(bystander: Bystander, when: string): Promise<void> {
  const { endpoints, tenant, peer } = bystander
  const { client } = tenant
  const { inboxId } = await client.inboxes.create({ username: newUsername() })
  await Promise.all([
    converse(bystander, inboxId, when),
    useDrafts(bystander, inboxId, when),
    useLists(bystander, inboxId),
    useDomains(bystander),
  ])
  const inbox = `/v0/inboxes/${encodeURIComponent(inboxId)}`
  const { body } = await tenant.api.post(`${inbox}/api-keys`, {})
  const ofInbox = clientOf(endpoints, String(body['api_key']))
  expect((await ofInbox.inboxes.get(inboxId)).inboxId).toBe(inboxId)
  await client.inboxes.delete(inboxId)
  await expect(client.inboxes.get(inboxId)).rejects.toMatchObject({ statusCode: 404 })
  await expect(peer.send({ to: inboxId, text: 'Too late' })).rejects.toThrow(/550/)
}

/** A mail with a file comes in, is found, answered and forwarded. */
async function converse({ endpoints, tenant, peer }: Bystander, inboxId: string, when: string): Promise<void> {
  const { client } = tenant
  const stream = await openStream(endpoints, tenant.key)
  const messageId = `<${newUsername('id')}@${peer.domain}>`
  const subject = `Order ${when}`
  const attachments = [{ filename: 'order.txt', content: 'the file' }]
  await peer.send({ to: inboxId, subject, text: 'How much is it?', messageId, attachments })
  const message = await waitFor(() => client.inboxes.messages.get(inboxId, messageId), {
    what: `${subject} to be stored`,
  })
  await eventAbout(stream, messageId, 'message.received')
  await stream.close()
  const [{ attachmentId = '' } = {}] = message.attachments ?? []
  const { downloadUrl } = await client.inboxes.messages.getAttachment(inboxId, messageId, attachmentId)
  expect(await (await fetch(downloadUrl)).text()).toContain('the file')
  const reply = await client.inboxes.messages.reply(inboxId, messageId, { text: `Five, ${when}.` })
  expect(reply.threadId).toBe(message.threadId)
  const to = peer.address(newUsername())
  await client.inboxes.messages.forward(inboxId, messageId, { to: [to], text: 'See below.' })
  expect((await peer.server.next(to)).parsed.attachments[0]?.content.toString()).toContain('the file')
  await client.inboxes.messages.update(inboxId, messageId, { addLabels: ['answered'] })
  const thread = await client.inboxes.threads.get(inboxId, message.threadId)
  expect(thread.messages.length).toBeGreaterThanOrEqual(3)
  await waitFor(
    async () => (await client.inboxes.messages.get(inboxId, reply.messageId)).labels.includes('delivered'),
    {
      what: 'the reply to be reported as delivered',
    },
  )
}

/** One draft is changed and sent, another is sent when it is due. */
async function useDrafts({ tenant, peer }: Bystander, inboxId: string, when: string): Promise<void> {
  const { drafts } = tenant.client.inboxes
  const [to, later] = [peer.address(newUsername()), peer.address(newUsername())]
  const { draftId } = await drafts.create(inboxId, { to: [to], subject: 'Draft', text: when })
  await drafts.create(inboxId, { to: [later], text: `Later, ${when}`, sendAt: new Date(Date.now() + 1_000) })
  await drafts.update(inboxId, draftId, { subject: 'Changed' })
  await drafts.send(inboxId, draftId, {})
  expect((await peer.server.next(to)).parsed.subject).toBe('Changed')
  await peer.server.next(later)
}

async function useLists({ tenant, peer }: Bystander, inboxId: string): Promise<void> {
  const { client } = tenant
  const address = peer.address(newUsername())
  await client.inboxes.lists.create(inboxId, 'send', 'block', { entry: address })
  const mail = { to: address, text: 'Hello' }
  await expect(client.inboxes.messages.send(inboxId, mail)).rejects.toThrow('in block list')
  await client.inboxes.lists.delete(inboxId, 'send', 'block', address)
  await client.inboxes.messages.send(inboxId, mail)
  await peer.server.next(address)
}

async function useDomains({ tenant }: Bystander): Promise<void> {
  const { domains } = tenant.client
  const { domainId, records } = await domains.create({ domain: newDomainName() })
  expect(records.length).toBeGreaterThan(0)
  await domains.verify(domainId)
  expect((await domains.get(domainId)).status).toBe('PENDING')
  await domains.delete(domainId)
}

/** Leaves what `useEverything` deletes again, so that migrations meet rows of it. */
export async function leaveRows({ endpoints, tenant, peer }: Bystander, sources: Sources): Promise<void> {
  const { client } = tenant
  const { inboxId } = await client.inboxes.create({})
  await client.domains.create({ domain: newDomainName(), trackingEnabled: true })
  for (const direction of ['send', 'receive'] as const)
    await client.lists.create(direction, 'block', { entry: peer.address(newUsername()) })
  await client.inboxes.drafts.create(inboxId, {
    to: [peer.address(newUsername())],
    text: 'In a year',
    attachments: [{ filename: 'a.txt', content: 'QQ==' }],
  })
  const hold = ['queue', 'hold', '--destination', newDomainName()]
  await sources.run('services/gateway/src/admin/main.ts', hold, endpoints.operator)
}
