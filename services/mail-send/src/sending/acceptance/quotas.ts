import type { Caller, CallerInbox } from '@restante/contracts/access'
import { normalizeAddress } from '@restante/mime'
import type { Queryable, Tx } from '@restante/service/database'
import type { Ramp } from '../checks/ramp.ts'
import { sendLimitExceeded } from '../checks/refusals.ts'
import { type Charge, chargesOf, limitsOf, type SendLimits } from '../checks/send-limit.ts'
import { type Newcomer, NewRecipients } from './new-recipients.ts'
import { chargeRecipients, findExceeded } from './send-limits.ts'

export interface QuotasOptions {
  readonly limits: SendLimits
  /** Of organizations whose human was verified recently. */
  readonly ramp: Ramp
}

/** What one message counts against. */
interface Counted {
  readonly newcomer: Newcomer
  readonly charges: readonly Charge[]
  readonly recipients: number
}

/** The quotas for one message. */
export class Quota {
  readonly #counted: Counted
  readonly #newRecipients: NewRecipients

  constructor(counted: Counted, newRecipients: NewRecipients) {
    this.#counted = counted
    this.#newRecipients = newRecipients
  }

  /** An early check, before work that costs something; `charge` decides. @throws ApiError 429 */
  async check(on: Queryable, now = new Date()): Promise<void> {
    const { newcomer, charges, recipients } = this.#counted
    const exceeded = await findExceeded(on, charges, recipients, now)
    if (exceeded) throw sendLimitExceeded(exceeded, now)
    await this.#newRecipients.check(on, newcomer, now)
  }

  /**
   * Counts messages, in the transaction that accepts them.
   * @throws ApiError 429 when they exceed a limit together: the transaction must not commit.
   */
  static async charge(tx: Tx, quotas: readonly Quota[], now: Date): Promise<void> {
    const counted = quotas.map((quota) => quota.#counted)
    const exceeded = await chargeRecipients(
      tx,
      counted.map(({ newcomer, ...counts }) => ({ organizationId: newcomer.organizationId, ...counts })),
      now,
    )
    if (exceeded) throw sendLimitExceeded(exceeded, now)
    // Organizations in one order: two transactions never wait for each other in a circle.
    const idOf = (quota: Quota) => quota.#counted.newcomer.organizationId
    for (const quota of quotas.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1)))
      await quota.#newRecipients.count(tx, quota.#counted.newcomer, now)
  }
}

/** The quotas of an installation, and of organizations that have others. */
export class Quotas {
  readonly #limits: SendLimits
  readonly #newRecipients: NewRecipients

  constructor({ limits, ramp }: QuotasOptions) {
    this.#limits = limits
    this.#newRecipients = new NewRecipients(ramp)
  }

  /** What a message counts against. @param addresses of its recipients, normalized, each once. */
  of(caller: Caller, inbox: CallerInbox, addresses: readonly string[]): Quota {
    const charges = this.#chargesOf(caller, inbox)
    return this.#quota(caller, inbox, { charges, recipients: addresses.length, addresses })
  }

  /** What invitations count against before they are sent (calendar 14.1): the limits alone. */
  ofInvitations(caller: Caller, inbox: CallerInbox, recipients: number): Quota {
    return this.#quota(caller, inbox, { charges: this.#chargesOf(caller, inbox), recipients, addresses: [] })
  }

  /** What an invitation counts against that was counted before: only its recipient may be a new one. */
  ofCounted(caller: Caller, inbox: CallerInbox, addresses: readonly string[]): Quota {
    return this.#quota(caller, inbox, { charges: [], recipients: addresses.length, addresses })
  }

  #chargesOf(caller: Caller, { pod_id: pod, uid }: CallerInbox): Charge[] {
    const scopes = { organization: caller.organization_id, pod, inbox: uid }
    return chargesOf(limitsOf(this.#limits, caller.send_limits), scopes, caller.unverified)
  }

  #quota(
    { organization_id: organizationId, verified_at: verifiedAt }: Caller,
    inbox: CallerInbox,
    { addresses, ...counts }: Omit<Counted, 'newcomer'> & { readonly addresses: readonly string[] },
  ): Quota {
    const self = normalizeAddress(inbox.address)
    const newcomer = {
      organizationId,
      verifiedAt: verifiedAt === undefined ? undefined : new Date(verifiedAt),
      addresses: addresses.filter((address) => address !== self),
    }
    return new Quota({ newcomer, ...counts }, this.#newRecipients)
  }
}
