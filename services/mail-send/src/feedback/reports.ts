import type { EventOf, topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import { classifyBounce, classifyComplaint, enhancedStatusIn, normalizeAddress } from '@restante/mime'
import type { Tx } from '@restante/service/database'
import { markHandedOver } from '../delivery/outbound/sends.ts'
import type { Occurrence, ReportProof } from '../delivery/outcome/delivery-events.ts'
import { publishOccurrences } from '../delivery/outcome/publish.ts'
import { type Recording, suppress, suppressBounced } from '../delivery/outcome/suppressions.ts'
import { isFromWhereItWent } from './report-origin.ts'
import { failureOf } from './reported-failure.ts'
import { findReported, type ReportedDelivery, saveComplaint, saveReportedBounce } from './store.ts'

type FeedbackEvent = EventOf<(typeof topics)['mail.feedback']>
export type BounceReported = Extract<FeedbackEvent, { type: 'bounce.reported' }>
export type ComplaintReported = Extract<FeedbackEvent, { type: 'complaint.reported' }>

/**
 * Applies external reports to deliveries. The return path that a report was sent to identifies exactly one delivery, so
 * what the report says of other addresses only (a forwarder's, for example) is about this one. A report suppresses
 * the recipient's address only when it comes from where the mail was delivered; one that anyone could have written
 * leads to an event and a label. Mail that was handed over internally has no genuine reports by mail.
 */
export class Reports {
  readonly #outbox: Outbox

  constructor(outbox: Outbox) {
    this.#outbox = outbox
  }

  /** A failure bounces the delivery, once; anything else in a report (delays, relays) changes nothing. */
  async bounce(tx: Tx, { payload }: BounceReported): Promise<void> {
    if (!payload.recipients.some(({ action }) => action === 'failed')) return
    const delivery = await findReported(tx, payload.delivery_id)
    const failure = delivery && failureOf(payload.recipients, delivery.recipient)
    if (!failure || delivery.inside) return
    const { diagnostic } = failure
    const status = failure.status ?? enhancedStatusIn(diagnostic ?? '')
    const { recipient } = delivery
    const bounce = classifyBounce({ status: failure.status, diagnostic, recipient, exhausted: true })
    if (!bounce) return
    await saveReportedBounce(tx, delivery.id, { status, diagnostic })
    const recipients = [recipient]
    const isProven = isFromWhereItWent(payload, delivery)
    const recording = { tx, outbox: this.#outbox }
    if (delivery.state !== 'bounced')
      await publish(recording, delivery, { kind: 'bounced', recipients, bounce, diagnostic, proof: proof(isProven) })
    if (isProven) await suppressBounced(recording, delivery.send, recipient, bounce)
  }

  /** A complaint counts once per delivery. */
  async complaint(tx: Tx, { payload }: ComplaintReported): Promise<void> {
    const complaint = classifyComplaint(payload.feedback_type)
    const delivery = complaint && (await findReported(tx, payload.delivery_id))
    if (!delivery || delivery.inside) return
    const recipients = [delivery.recipient]
    const isProven = isFromWhereItWent(payload, delivery)
    const recording = { tx, outbox: this.#outbox }
    if (await saveComplaint(tx, delivery.id))
      await publish(recording, delivery, { kind: 'complained', recipients, complaint, proof: proof(isProven) })
    if (isProven) await suppressComplainant(recording, delivery)
  }
}

/** A report may arrive before the outcome of the delivery is recorded. */
async function publish(recording: Recording, { send }: ReportedDelivery, item: Occurrence): Promise<void> {
  const sent = await markHandedOver(recording.tx, send.id)
  const occurrences: Occurrence[] = sent ? [{ kind: 'handed_over', ...sent }, item] : [item]
  await publishOccurrences(recording, send, occurrences)
}

function proof(isProven: boolean): ReportProof {
  return isProven ? 'proven' : 'unproven'
}

async function suppressComplainant(recording: Recording, { send, recipient }: ReportedDelivery): Promise<void> {
  if (send.origin.kind === 'system') return
  await suppress(recording, send.origin.organizationId, normalizeAddress(recipient), 'complained')
}
