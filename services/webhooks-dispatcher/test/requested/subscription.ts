import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import type { WebhookDelivery } from '@restante/contracts/resources'
import { deliveredEvent, type InboxScope, receivedEvent, type WebhookReceiver, waitFor } from '@restante/testkit'
import type { TestDispatcher } from '../dispatcher.ts'
import { makeTenant, type Tenant } from '../tenant.ts'

/** A webhook of an organization that the gateway knows, and events about its inbox. */
export class Subscription {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly id: string
  readonly secret: string
  readonly scope: InboxScope
  readonly #dispatcher: TestDispatcher

  private constructor(dispatcher: TestDispatcher, tenant: Tenant, webhook: { webhook_id: string; secret: string }) {
    this.#dispatcher = dispatcher
    this.tenant = tenant
    this.caller = tenant.organization()
    this.id = webhook.webhook_id
    this.secret = webhook.secret
    const { uid: inboxUid, address, pod_id: podId } = tenant.inbox
    this.scope = { organizationId: tenant.id, podId, inboxUid, address }
  }

  static async make(
    dispatcher: TestDispatcher,
    receiver: WebhookReceiver,
    more: Record<string, unknown> = {},
  ): Promise<Subscription> {
    const tenant = await makeTenant(dispatcher)
    const body = { url: receiver.url, event_types: ['message.received'], ...more }
    return new Subscription(dispatcher, tenant, await dispatcher.webhook(tenant.organization(), body))
  }

  /** Publishes mails that the inbox received. @returns their events. */
  async receive(count = 1): Promise<ReturnType<typeof receivedEvent>[]> {
    const events = Array.from({ length: count }, () => receivedEvent(this.scope))
    await this.#dispatcher.events.publish(topics['mail.messages'], ...events)
    return events
  }

  /** Publishes an event that is not of the webhook's type. */
  async deliver(): Promise<void> {
    await this.#dispatcher.events.publish(topics['mail.messages'], deliveredEvent(this.scope))
  }

  async log(): Promise<WebhookDelivery[]> {
    const target = `/webhooks/${this.id}/deliveries`
    const { body } = await this.#dispatcher.request('webhooks.listDeliveries', this.caller, 'GET', target)
    return Array.isArray(body['deliveries']) ? body['deliveries'] : []
  }

  /** Waits until the log shows this many deliveries, all of them in a state. */
  logged(count: number, state: WebhookDelivery['state']): Promise<WebhookDelivery[]> {
    return waitFor(
      async () => {
        const all = await this.log()
        return all.length === count && all.every((delivery) => delivery.state === state) && all
      },
      { what: `${count} deliveries in the log that are ${state}` },
    )
  }

  retry(deliveryId: string, caller: Caller = this.caller, prefix = '', idOrAlias = this.id) {
    const target = `${prefix}/webhooks/${idOrAlias}/deliveries/${deliveryId}/retry`
    return this.#dispatcher.request('webhooks.retryDelivery', caller, 'POST', target, {})
  }

  change(body: Record<string, unknown>) {
    return this.#dispatcher.request('webhooks.update', this.caller, 'PATCH', `/webhooks/${this.id}`, body)
  }

  delete() {
    return this.#dispatcher.request('webhooks.delete', this.caller, 'DELETE', `/webhooks/${this.id}`)
  }
}
