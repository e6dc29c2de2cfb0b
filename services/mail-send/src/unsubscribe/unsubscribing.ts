import type { EventOf, topics } from '@restante/contracts/events'
import type { UnsubscribeState } from '@restante/contracts/internal'
import type { Outbox } from '@restante/messaging'
import { normalizeAddress, type UnsubscribeLink } from '@restante/mime'
import type { Database, Tx } from '@restante/service/database'
import { suppress } from '../delivery/outcome/suppressions.ts'
import { listEntries } from '../lists/store.ts'
import { masked } from './masked.ts'
import { findSubscription, lockSubscription, type Subscription } from './store.ts'

type UnsubscribeRequested = Extract<EventOf<(typeof topics)['mail.feedback']>, { type: 'unsubscribe.requested' }>

export interface UnsubscribingOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly link: UnsubscribeLink
}

/**
 * Ends the mail of an organization to a recipient who asks for that (mail 15.5): by the link in the mail, or by a mail
 * to the address beside it. Either names a delivery, and cannot be guessed: having it is the whole proof.
 */
export class Unsubscribing {
  readonly #options: UnsubscribingOptions

  constructor(options: UnsubscribingOptions) {
    this.#options = options
  }

  /** What a link stands for; undefined when it was altered, or its delivery was deleted. */
  async find(token: string): Promise<UnsubscribeState | undefined> {
    const { db, link } = this.#options
    const deliveryId = link.deliveryOf(token)
    const subscription = deliveryId && (await findSubscription(db, deliveryId))
    if (!subscription) return undefined
    const { organization_id: scope_id, recipient } = subscription
    const list = { tier: 'organization', scope_id, direction: 'send', type: 'block' } as const
    const entry = await listEntries.get(db, list, normalizeAddress(recipient))
    return stateOf(subscription, entry?.read_only ?? false)
  }

  /** Suppresses the recipient. @returns once that is committed; undefined as `find` does. */
  async confirm(token: string): Promise<UnsubscribeState | undefined> {
    const { db, link } = this.#options
    const deliveryId = link.deliveryOf(token)
    const subscription = deliveryId && (await db.transaction((tx) => this.#record(tx, deliveryId)))
    return subscription ? stateOf(subscription, true) : undefined
  }

  /** A mail came to the address of a delivery. */
  async requested(tx: Tx, { payload }: UnsubscribeRequested): Promise<void> {
    await this.#record(tx, payload.delivery_id)
  }

  /**
   * Suppresses the recipient of a delivery: the entry and its event, once. An address that is suppressed for another
   * reason stays so. @returns undefined when the delivery was deleted.
   */
  async #record(tx: Tx, deliveryId: string): Promise<Subscription | undefined> {
    const subscription = await lockSubscription(tx, deliveryId)
    if (!subscription) return undefined
    const { organization_id, recipient } = subscription
    const recording = { tx, outbox: this.#options.outbox }
    await suppress(recording, organization_id, normalizeAddress(recipient), 'Unsubscribed via List-Unsubscribe')
    return subscription
  }
}

function stateOf({ recipient }: Subscription, suppressed: boolean): UnsubscribeState {
  return { recipient: masked(recipient), suppressed }
}
