import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { Queryable, Tx } from '@restante/service/database'
import { sendLimitExceeded } from '../checks/refusals.ts'
import { type Charge, chargesOf, limitsOf, type SendLimits } from '../checks/send-limit.ts'
import { chargeRecipients, findExceeded } from './send-limits.ts'

/** What a message counts against. */
export class Quota {
  readonly #organizationId: string
  readonly #charges: readonly Charge[]
  readonly #recipients: number

  constructor(organizationId: string, charges: readonly Charge[], recipients: number) {
    this.#organizationId = organizationId
    this.#charges = charges
    this.#recipients = recipients
  }

  /**
   * An early check, before work that costs something; `charge` decides.
   * @throws ApiError 429
   */
  async check(on: Queryable, now = new Date()): Promise<void> {
    const exceeded = await findExceeded(on, this.#charges, this.#recipients, now)
    if (exceeded) throw sendLimitExceeded(exceeded, now)
  }

  /** Counts the message, in the transaction that accepts it. @throws ApiError 429: the transaction must not commit. */
  async charge(tx: Tx, now: Date): Promise<void> {
    const exceeded = await chargeRecipients(tx, this.#organizationId, this.#charges, this.#recipients, now)
    if (exceeded) throw sendLimitExceeded(exceeded, now)
  }
}

/** The quotas of an installation, and of organizations that have others. */
export class Quotas {
  readonly #limits: SendLimits

  constructor(limits: SendLimits) {
    this.#limits = limits
  }

  /** What a message counts against. @param addresses of its recipients, each once. */
  of(caller: Caller, inbox: CallerInbox, addresses: readonly string[]): Quota {
    const { organization_id: organization, unverified, send_limits: own } = caller
    const scopes = { organization, pod: inbox.pod_id, inbox: inbox.uid }
    const charges = chargesOf(limitsOf(this.#limits, own), scopes, unverified)
    return new Quota(organization, charges, addresses.length)
  }
}
