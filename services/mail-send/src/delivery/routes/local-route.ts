import type { RecipientAnswer } from '@restante/contracts/internal'
import type { Operator } from '@restante/kit'
import { normalizeAddress, type ReturnPath } from '@restante/mime'
import type { ServiceClient } from '@restante/service/http'
import type { OutboundContent } from '../outbound/outbound-content.ts'
import { outboundBlob, type SendRecord } from '../outbound/sends.ts'
import type { BegunDelivery, OpenDelivery } from '../outcome/delivery.ts'
import { deferredBy, type Outcome, refusedBy } from '../outcome/outcome.ts'
import type { OutgoingMail, Route, Steps } from './route.ts'

export interface LocalRouteOptions {
  readonly gateway: ServiceClient<'mail-send'>
  readonly mailIngest: ServiceClient<'mail-send'>
  readonly content: Pick<OutboundContent, 'fieldsOf'>
  readonly returnPath: ReturnPath
  /** Name under which the hand-over appears in delivery events. */
  readonly name: string
  readonly operator: Operator
}

/** Time for durable storage of the message in the mailbox's pipeline; large ones are copied first. */
const ACCEPT_MS = 15_000
const RESOLVE_MS = 5_000

/**
 * Hands mail over to inboxes hosted here, without SMTP. Repeating a hand-over is harmless: the mailbox recognises the
 * delivery by its id, so a crash between its answer and the commit costs nothing.
 */
export class LocalRoute implements Route {
  readonly name = 'local'
  readonly repeatable = true
  readonly #options: LocalRouteOptions

  constructor(options: LocalRouteOptions) {
    this.#options = options
  }

  bottleneck(): undefined {
    return undefined
  }

  async attempt(mail: OutgoingMail, steps: Steps): Promise<void> {
    const answers = await this.#resolve(mail.deliveries)
    const begun = await steps.begin(mail.deliveries)
    const results = await Promise.allSettled(
      begun.map(async (delivery) =>
        steps.report(delivery, await this.#handOver(mail, delivery, answers.get(delivery.id))),
      ),
    )
    // Reported outcomes stay reported: a recipient whose hand-over fails does not hold up the others.
    const failure = results.find((result) => result.status === 'rejected')
    if (failure) throw failure.reason
  }

  /** The owner's answer about the recipient of each delivery, by delivery. */
  async #resolve(deliveries: readonly OpenDelivery[]): Promise<Map<string, RecipientAnswer>> {
    const addresses = deliveries.map(({ recipient }) => this.#inboxOf(recipient))
    const { recipients } = await this.#options.gateway.call('gateway.resolveRecipients', { addresses }, RESOLVE_MS)
    if (recipients.length !== deliveries.length) throw new Error('the gateway did not answer for every recipient')
    return new Map(
      recipients.flatMap((answer, index) => {
        const delivery = deliveries[index]
        return delivery ? [[delivery.id, answer]] : []
      }),
    )
  }

  async #handOver(
    { send }: OutgoingMail,
    delivery: BegunDelivery,
    recipient: RecipientAnswer | undefined,
  ): Promise<Outcome> {
    const { name, mailIngest, content, returnPath } = this.#options
    if (this.#isForwarded(delivery.recipient)) return this.#forOperator(send, delivery)
    if (recipient?.status === 'paused') return taken(name)
    if (recipient?.status !== 'deliver') {
      // The inbox that the operator reads is missing: nothing is wrong with the address that was written to.
      return this.#isOperator(delivery.recipient)
        ? deferredBy('4.3.0', '451 4.3.0 Nobody reads this yet')
        : unknown(name)
    }
    const { organization_id, pod_id, inbox_uid } = recipient
    // It has the message as its sender, whatever the address: what it got would take the id of that, or be its duplicate.
    if (send.origin.kind === 'inbox' && send.origin.inboxUid === inbox_uid) return taken(name)
    const fields = content.fieldsOf(send, delivery.id)
    const request = {
      delivery_id: delivery.id,
      organization_id,
      pod_id,
      inbox_uid,
      recipient: this.#isOperator(delivery.recipient) ? recipient.address : delivery.recipient,
      mail_from: returnPath.addressFor(delivery.id, send.returnPath),
      ...(send.origin.kind === 'inbox' && { sender_organization_id: send.origin.organizationId }),
      blob: { name: outboundBlob(send.id), size: send.size, sha256: send.sha256 },
      ...(fields !== '' && { fields }),
    }
    const { outcome } = await mailIngest.call('mail-ingest.acceptInbound', request, ACCEPT_MS)
    switch (outcome) {
      case 'accepted':
      case 'paused':
        return taken(name)
      case 'unknown':
        return unknown(name)
      case 'limited':
        return deferredBy('4.7.1', '451 4.7.1 Too much mail for this recipient')
      case 'full':
        return deferredBy('4.2.2', '452 4.2.2 The mailbox is full')
      case 'loop':
        return refusedBy('5.4.6', '554 5.4.6 Mail loop', name)
    }
  }

  /** The address of the inbox that gets the mail to a recipient: an operator may read mail here. */
  #inboxOf(recipient: string): string {
    return this.#isOperator(recipient) ? this.#options.operator.address : normalizeAddress(recipient)
  }

  #isOperator(recipient: string): boolean {
    return this.#options.operator.names.has(normalizeAddress(recipient))
  }

  #isForwarded(recipient: string): boolean {
    return !this.#options.operator.isInside && this.#isOperator(recipient)
  }

  /** Mail to an operator who reads it elsewhere: mail-ingest has it forwarded, like what arrives by SMTP. */
  async #forOperator(send: SendRecord, delivery: BegunDelivery): Promise<Outcome> {
    const { name, mailIngest, returnPath } = this.#options
    const { outcome } = await mailIngest.call(
      'mail-ingest.acceptForOperator',
      {
        delivery_id: delivery.id,
        recipient: delivery.recipient,
        mail_from: returnPath.addressFor(delivery.id, send.returnPath),
        ...(send.origin.kind === 'inbox' && { sender_organization_id: send.origin.organizationId }),
        blob: { name: outboundBlob(send.id), size: send.size, sha256: send.sha256 },
      },
      ACCEPT_MS,
    )
    switch (outcome) {
      case 'accepted':
        return taken(name)
      case 'limited':
        return deferredBy('4.7.1', '451 4.7.1 Too much mail for this recipient')
      case 'too_large':
        return refusedBy('5.3.4', '552 5.3.4 Too large for this recipient', name)
      case 'loop':
        return refusedBy('5.4.6', '554 5.4.6 Mail loop', name)
    }
  }
}

/** A paused inbox drops mail, and its sender cannot detect it (mail 13). */
function taken(mta: string): Outcome {
  return { kind: 'delivered', verdict: { status: '2.0.0', text: '250 2.0.0 Handed over', mta } }
}

function unknown(mta: string): Outcome {
  return refusedBy('5.1.1', '550 5.1.1 No such inbox', mta)
}
