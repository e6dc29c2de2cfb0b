import { PATIENCE_MS, waitFor } from '@restante/testkit'
import type { Installation } from '../faults/harness/installation.ts'
import type { Sources } from '../stack/sources.ts'
import { newUsername } from '../support/tenants.ts'

const MAILS = 40
const DRAFTS = 5
/** Later than the services of the other release are ready. */
const DUE_MS = 40_000

interface Change {
  readonly from: Sources
  readonly to: Sources
}

/**
 * The promise of one release to finish the work that another one left: rows in the outbox, accepted mail, timers of
 * deliveries and webhooks, scheduled drafts, jobs in Redis.
 */
export function describeLeftWork(title: string, installationOf: () => Installation, change: () => Change): void {
  it(title, async () => {
    const installation = installationOf()
    const { from, to } = change()
    const { source, peer, receiver, tenant, engines, inboxes } = installation
    await startAll(installation, from)
    const [inboxId = ''] = inboxes
    const scheduled = await scheduleDrafts(installation, inboxId)
    // Webhooks and sends wait for their next attempt.
    receiver.always(503)
    const human = peer.address(newUsername())
    peer.server.answerRecipient(human, ...Array<'451 4.7.1 Not now'>(200).fill('451 4.7.1 Not now'))
    const { messageId } = await tenant.client.inboxes.messages.send(inboxId, { to: human, text: 'Left behind' })
    const before = receiver.requests.length
    await source.send(MAILS, MAILS)
    await waitFor(() => receiver.requests.length > before, { what: 'the first failed webhook' })
    // Events stay in the outbox.
    await engines.kill('kafka')
    await source.send(MAILS, MAILS)
    await Promise.all(installation.system.processes().map((each) => each.stop('SIGKILL')))
    await engines.restart('kafka')
    receiver.always(200)
    peer.server.answerRecipient(human)
    await startAll(installation, to)
    await installation.expectEverything()
    await peer.server.next(human)
    await waitFor(async () => (await stateOf(installation, inboxId, messageId)).includes('delivered'), {
      what: 'the deferred send to be delivered',
      timeout: 2 * PATIENCE_MS,
    })
    for (const address of scheduled) await peer.server.next(address, { timeout: 2 * PATIENCE_MS })
    for (const address of [human, ...scheduled]) expect(peer.server.mailsTo(address)).toHaveLength(1)
  }, 300_000)
}

/** Restarts every process that does not run from this release. */
async function startAll({ system }: Installation, sources: Sources): Promise<void> {
  const all = system.processes()
  await Promise.all(all.map((each) => each.stop('SIGTERM', 35_000)))
  for (const each of all) {
    each.runFrom(sources)
    each.supervise()
  }
  await Promise.all(all.map((each) => each.ready()))
}

/** @returns the addresses that get the drafts when they are due. */
async function scheduleDrafts({ tenant, peer }: Installation, inboxId: string): Promise<string[]> {
  const addresses = Array.from({ length: DRAFTS }, () => peer.address(newUsername()))
  const sendAt = new Date(Date.now() + DUE_MS)
  for (const to of addresses) await tenant.client.inboxes.drafts.create(inboxId, { to: [to], text: 'In time', sendAt })
  return addresses
}

async function stateOf({ tenant }: Installation, inboxId: string, messageId: string): Promise<string[]> {
  return (await tenant.client.inboxes.messages.get(inboxId, messageId)).labels
}
