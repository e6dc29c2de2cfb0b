import { PATIENCE_MS, waitFor } from '@restante/testkit'
import type { System } from '../../stack/system.ts'
import { type OutsidePeer, openPeer } from '../../support/peers.ts'
import { createTenant, newUsername, type Tenant } from '../../support/tenants.ts'

/** What the public TypeScript client does by itself when the stream service is killed. */
export function describeReconnecting(systemOf: () => System): void {
  let system: System
  let tenant: Tenant
  let peer: OutsidePeer
  beforeAll(async () => {
    system = systemOf()
    ;[tenant, peer] = await Promise.all([createTenant(system.endpoints), openPeer(system.endpoints)])
  })
  afterAll(() => peer?.stop())

  it('reconnects through an outage of the stream service, and gets the next event', async () => {
    const { inboxId } = await tenant.client.inboxes.create({})
    const fanout = system.process('websocket-fanout')
    const socket = await tenant.client.websockets.connect()
    const frames: unknown[] = []
    const closes: number[] = []
    const subscribe = () => socket.sendSubscribe({ type: 'subscribe', inboxIds: [inboxId] })
    const subscriptions = () => frames.filter((frame) => Object(frame).type === 'subscribed').length
    socket.on('message', (frame) => frames.push(frame))
    socket.on('close', ({ code }) => closes.push(code))
    socket.on('open', subscribe)
    subscribe()
    await waitFor(() => subscriptions() === 1, { what: 'the first subscription' })
    await fanout.stop('SIGKILL')
    // It tries again every few seconds, and a refused handshake would be the last.
    await waitFor(() => closes.filter((code) => code === 1013).length > 1, { what: 'two closes with 1013' })
    fanout.start()
    await fanout.ready()
    await waitFor(() => subscriptions() === 2, { what: 'the second subscription' })
    expect(closes).not.toContain(1000)
    const messageId = `<${newUsername('id')}@${peer.domain}>`
    await peer.send({ to: inboxId, subject: 'Back', text: 'Are you there?', messageId })
    await waitFor(() => frames.some((frame) => Object(frame).message?.messageId === messageId), {
      what: 'the event after the restart',
      // The partitions of a dead consumer are reassigned when its session has expired.
      timeout: 2 * PATIENCE_MS,
    })
    socket.close()
  })
}
