import { waitFor } from '@restante/testkit'
import { inboxWithMail } from '../support/mail.ts'
import { secretOf } from '../support/sdk.ts'
import { useSystem } from '../support/suite.ts'
import { clientOf, newUsername } from '../support/tenants.ts'

/** How late an event may be counted (identity 9.1), and longer, because the machine also runs other suites. */
const COUNTED = { what: 'the events to be counted' }

describe('metrics by the public client', () => {
  const system = useSystem()
  const my = () => system.tenant.client

  /** A pod with an inbox that has received a mail and sent one to somebody. */
  async function usedInbox() {
    const { podId } = await my().pods.create({ name: 'Metrics' })
    const { inboxId } = await my().pods.inboxes.create(podId, { username: newUsername() })
    await system.peer.send({ to: inboxId, subject: 'Question', text: 'Where is it?' })
    await my().inboxes.messages.send(inboxId, {
      to: [system.peer.address(newUsername('human'))],
      subject: 'Answer',
      text: 'Here.',
    })
    return { podId, inboxId }
  }

  it('shows what was received, sent and delivered at each scope, single and by period', async () => {
    const { podId, inboxId } = await usedInbox()
    const eventTypes = ['message.received', 'message.sent', 'message.delivered', 'domain.verified'] as const
    const query = { eventTypes: [...eventTypes] }
    const counted = await waitFor(async () => {
      const found = await my().inboxes.metrics.queryEvents(inboxId, query)
      const counts = eventTypes.map((type) => found[type]?.length)
      if (counts.join() !== '1,1,1,0') throw new Error(`counted so far: ${counts}`)
      return found
    }, COUNTED)
    expect(counted['domain.verified']).toEqual([])
    expect(counted['message.received']?.[0]).toEqual({ timestamp: expect.any(Date), count: 1 })
    const inPod = await my().pods.metrics.queryEvents(podId, { ...query, period: 86_400, limit: 10, descending: true })
    expect(inPod['message.sent']?.map(({ count }) => count)).toEqual([1])
    const start = new Date(Date.now() - 3_600_000)
    const everywhere = await my().metrics.queryEvents({ ...query, start, end: new Date(), period: 3_600 })
    expect(everywhere['message.received']?.[0]?.timestamp).toEqual(start)
    expect(Object.keys(await my().metrics.queryEvents()).length).toBe(10)
  })

  it('shows what is stored at each scope, as the organization does at present', async () => {
    const { podId, inboxId } = await usedInbox()
    const usageTypes = ['storage_bytes' as const, 'message_count' as const, 'thread_count' as const]
    // The current second is not over: the last point of a range is before it.
    const query = { period: 1 }
    const latest = () => ({ ...query, start: new Date(Date.now() - 2_000) })
    const stored = await waitFor(async () => {
      const found = await my().inboxes.metrics.queryUsage(inboxId, { ...latest(), usageTypes })
      return found.message_count?.at(-1)?.value === 2 && found
    }, COUNTED)
    expect(stored.thread_count?.at(-1)?.value).toBe(2)
    expect(stored.storage_bytes?.at(-1)?.value).toBeGreaterThan(500)
    const inPod = await my().pods.metrics.queryUsage(podId, latest())
    expect(Object.keys(inPod)).toHaveLength(5)
    expect(inPod.storage_bytes?.at(-1)?.value).toBe(stored.storage_bytes?.at(-1)?.value)
    await waitFor(async () => {
      const { inbox_count, domain_count } = await my().metrics.queryUsage(latest())
      const organization = await my().organizations.get()
      return (
        inbox_count?.at(-1)?.value === organization.inboxCount &&
        domain_count?.at(-1)?.value === organization.domainCount
      )
    }, COUNTED)
  })

  it('is refused to a key without metrics_read, and shows no scope outside a key', async () => {
    const { inboxId } = await inboxWithMail(system)
    const { podId } = await my().pods.create({ name: 'Elsewhere' })
    const reader = clientOf(
      system.endpoints,
      secretOf(await my().apiKeys.create({ permissions: { inboxRead: true, messageRead: true } })),
    )
    for (const refused of [
      reader.metrics.queryEvents(),
      reader.metrics.queryUsage(),
      reader.inboxes.metrics.queryEvents(inboxId),
    ])
      await expect(refused).rejects.toMatchObject({ statusCode: 403, body: { code: 'missing_permission' } })
    const inPod = clientOf(system.endpoints, secretOf(await my().pods.apiKeys.create(podId, {})))
    await expect(inPod.inboxes.metrics.queryEvents(inboxId)).rejects.toMatchObject({ statusCode: 404 })
    await expect(my().pods.metrics.queryUsage(inboxId)).rejects.toMatchObject({ statusCode: 404 })
    expect((await inPod.metrics.queryEvents())['message.received']).toEqual([])
  })
})
