import { Metrics, verifyWebhook, WebhookReceiver, waitFor } from '@restante/testkit'
import { System } from '../stack/system.ts'
import { mailTo } from '../support/mail.ts'
import { openPeer } from '../support/peers.ts'
import { openStream } from '../support/streams.ts'
import { createTenant } from '../support/tenants.ts'

/** A system whose processes serve metrics, with everything around it that a conversation needs. */
export interface ObservedSystem {
  readonly system: System
  /** Addresses of `/metrics`, by service. */
  readonly targets: ReadonlyMap<string, string>
  /**
   * A mail comes in, its event goes to a webhook and a stream, an answer goes out, and its delivery is reported.
   * Resolves when all of it has happened.
   */
  converse(): Promise<void>
  /** The metrics of every process. */
  read(): Promise<ReadonlyMap<string, Metrics>>
  stop(): Promise<void>
}

/** @param state folder for blobs and logs. @param environment of every service. */
export async function startObserved(
  state: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ObservedSystem> {
  const system = await System.start(state, { metrics: true, environment })
  const { endpoints } = system
  const [tenant, peer, receiver] = await Promise.all([
    createTenant(endpoints),
    openPeer(endpoints),
    new WebhookReceiver().start(),
  ])
  const targets = new Map(
    system
      .processes()
      .map(({ name, environment: { METRICS_PORT } }) => [name, `http://127.0.0.1:${METRICS_PORT}/metrics`]),
  )
  const { client } = tenant
  return {
    system,
    targets,
    async converse() {
      const { inboxId } = await client.inboxes.create({})
      const eventTypes: ('message.received' | 'message.delivered')[] = ['message.received', 'message.delivered']
      const { secret } = await client.webhooks.create({ url: receiver.url, eventTypes, inboxIds: [inboxId] })
      const stream = await openStream(endpoints, tenant.key, { inbox_ids: [inboxId] })
      const message = await mailTo({ tenant, peer }, inboxId)
      const received = await receiver.next(({ body }) => body.includes(JSON.stringify(message.messageId)), {
        what: 'the webhook request about the mail',
      })
      verifyWebhook(secret, received)
      await client.inboxes.messages.reply(inboxId, message.messageId, { text: 'Well, thank you.' })
      await waitFor(() => peer.server.mailsTo(peer.address()).length > 0, { what: 'the answer at the peer' })
      const isDelivery = ({ body }: { readonly body: string }) =>
        body.includes('message.delivered') && body.includes(JSON.stringify(inboxId))
      await receiver.next(isDelivery, { what: 'the webhook request about the delivery' })
      await waitFor(() => stream.events.length > 1, { what: 'the events on the stream' })
      await stream.close()
    },
    async read() {
      const read = [...targets].map(async ([name, url]) => [name, await Metrics.read(url)] as const)
      return new Map(await Promise.all(read))
    },
    async stop() {
      await Promise.all([receiver.stop(), peer.stop()])
      await system.stop()
    },
  }
}
