import { classifyComplaint, type Report } from '@restante/mime'
import type { ServiceClient } from '@restante/service/http'
import type { RecipientLookup } from '../inbound/recipients.ts'
import type { StorageQuota } from '../inbound/storage-quota.ts'
import type { InboxScope } from '../inbound/store.ts'
import { mailsDeferred } from '../inbound/telemetry.ts'
import type { InboundRates } from '../rates/inbound-rates.ts'
import type { CopySwitches } from './copy-switches.ts'

export interface ReportCopiesOptions {
  readonly gateway: ServiceClient
  readonly mailSend: ServiceClient
  readonly copySwitches: CopySwitches
  readonly recipients: Pick<RecipientLookup, 'ask'>
  readonly rates: InboundRates
  readonly storage: StorageQuota
}

/** A report that arrived, and the delivery that it is about. */
export interface CopiedReport {
  readonly report: Report
  readonly deliveryId: string
  /** Address of the SMTP client. */
  readonly peer: string
  readonly size: number
}

/**
 * Decides whether a report is also stored in the inbox that sent the mail: that inbox is on a domain with
 * `feedback_enabled` (domains 11), is neither paused nor deleted, and its limits have room. Everybody who got the mail can
 * write to its return path, so a copy counts like any other received mail; beyond a limit there is none, because what
 * the report says is known from its event.
 */
export class ReportCopies {
  readonly #options: ReportCopiesOptions

  constructor(options: ReportCopiesOptions) {
    this.#options = options
  }

  /**
   * The inbox that gets a copy, if any. Where no domain wants copies this is one query.
   * @throws UpstreamError when another service does not answer.
   */
  async inboxFor({ report, deliveryId, peer, size }: CopiedReport): Promise<InboxScope | undefined> {
    const { copySwitches, rates, storage } = this.#options
    if (!isNotification(report) || !(await copySwitches.anyOn())) return undefined
    const inbox = await this.#sender(deliveryId)
    if (inbox === undefined || !(await copySwitches.wants(inbox))) return undefined
    if (!(await storage.hasRoom(inbox.organization_id, size))) {
      mailsDeferred.inc({ limit: 'organization_storage' })
      return undefined
    }
    const admission = await rates.recipient({ kind: 'peer', address: peer }, inbox)
    if (admission.ok) {
      storage.add(inbox.organization_id, size)
      return inbox
    }
    mailsDeferred.inc({ limit: admission.limit })
    return undefined
  }

  /** The inbox that sent the mail, if it still exists and accepts mail. */
  async #sender(deliveryId: string): Promise<InboxScope | undefined> {
    const { mailSend, gateway, recipients } = this.#options
    const { deliveries } = await mailSend.call('mail-send.findDeliveries', { delivery_id: deliveryId })
    const [sent] = deliveries
    if (sent === undefined) return undefined
    const { organization_id, inbox_uid } = sent
    const asked = { organization_id, inboxes: [inbox_uid], pods: [] }
    const { inboxes } = await gateway.call('gateway.lookupInboxes', asked)
    const inbox = inboxes.find((one) => one.inbox_uid === inbox_uid)
    const answer = inbox && (await recipients.ask(inbox.address))
    if (answer?.status !== 'deliver' || answer.inbox_uid !== inbox_uid) return undefined
    const { pod_id, address } = answer
    return { organization_id, pod_id, inbox_uid, address }
  }
}

/** Whether a report is a bounce or a complaint: not a delay, and not that a mail is no spam. */
function isNotification(report: Report): boolean {
  return report.kind === 'feedback'
    ? classifyComplaint(report.feedbackType) !== undefined
    : report.recipients.some(({ action }) => action === 'failed')
}
