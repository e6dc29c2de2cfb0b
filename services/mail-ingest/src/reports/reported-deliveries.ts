import { LIMITS } from '@restante/contracts/vocabulary'
import { type FeedbackReport, ReturnPath } from '@restante/mime'
import type { ServiceClient } from '@restante/service/http'

export interface ReportedDeliveriesOptions {
  readonly returnPath: { readonly domain: string; readonly secret: string }
  readonly mailSend: ServiceClient
}

/** Finds the deliveries that complaints are about which came to a registered address (events 1.3). */
export class ReportedDeliveries {
  readonly #returnPath: ReturnPath
  readonly #mailSend: ServiceClient

  constructor({ returnPath, mailSend }: ReportedDeliveriesOptions) {
    this.#returnPath = new ReturnPath(returnPath)
    this.#mailSend = mailSend
  }

  /**
   * The delivery of the return path of the enclosed original, by its header or by the report; without one, those of the
   * message that the original is, to the recipients that the report names. Nothing else in a report says whom it
   * concerns.
   * @returns ids; none where the report names no mail of this installation.
   * @throws UpstreamError when mail-send does not answer.
   */
  async of(report: FeedbackReport): Promise<readonly string[]> {
    const { originalReturnPath, originalMailFrom, originalMessageId, recipients } = report
    for (const address of [originalReturnPath, originalMailFrom]) {
      const id = address === undefined ? undefined : this.#returnPath.deliveryOf(address)
      if (id !== undefined) return [id]
    }
    if (originalMessageId === undefined || recipients.length === 0) return []
    const named = { message_id: originalMessageId, recipients: recipients.slice(0, LIMITS.send.recipients) }
    const { deliveries } = await this.#mailSend.call('mail-send.findDeliveries', named)
    return deliveries.map(({ delivery_id }) => delivery_id)
  }
}
