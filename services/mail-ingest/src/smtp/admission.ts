import type { RecipientAnswer } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Logger } from '@restante/service/telemetry'
import type { StorageQuota } from '../inbound/storage-quota.ts'
import type { NewInbound } from '../inbound/store.ts'
import { mailsDeferred } from '../inbound/telemetry.ts'
import type { Take } from '../rates/counter.ts'
import type { InboundRates, Admission as RateAdmission } from '../rates/inbound-rates.ts'
import { Refusal } from './refusal.ts'

/** What the current transaction of a session has taken from the rates. */
export interface Allowance {
  readonly peer: string
  /** As declared by MAIL; undefined outside of a transaction. */
  declared: number | undefined
  /** Its recipients by a key of each, with what was taken for it; undefined after that was given back. */
  readonly taken: Map<string, { readonly recipient: Counted; takes: readonly Take[] | undefined }>
  /** Gives back what was taken, unless content arrives first. */
  hold: NodeJS.Timeout | undefined
}

export interface AdmissionOptions {
  readonly rates: InboundRates
  readonly storage: StorageQuota
  readonly log: Logger
  /** How long named recipients keep their allowance without content. Default 30 s. */
  readonly holdMs?: number
}

/** The operator among the recipients of a transaction. */
const OPERATOR = 'operator'
/** Longer than a client with a mail to send needs between RCPT and DATA. */
const HOLD_MS = 30_000

type Inbox = Exclude<RecipientAnswer, { status: 'unknown' }>

/** A recipient whose mail is limited: by its owner, and as it is named in the log. */
interface Counted {
  readonly take: (peer: string) => Promise<RateAdmission>
  readonly about: Readonly<Record<string, unknown>>
}

/**
 * Applies rates and quotas to the transactions of SMTP sessions (mail 13). A client that exceeds them gets a temporary
 * error.
 */
export class Admission {
  readonly #options: AdmissionOptions

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /** The initial state of a session, and of each mail of it. */
  open(peer: string): Allowance {
    return { peer, declared: undefined, taken: new Map(), hold: undefined }
  }

  /** MAIL, which ends the previous transaction. @param declared SIZE, 0 without. */
  async mail(allowance: Allowance, declared: number): Promise<Refusal | null> {
    this.end(allowance, false, 0)
    const { peer } = allowance
    const admission = await this.#options.rates.mail(peer, declared)
    if (!admission.ok) return this.#refuse(admission.limit, { peer, size: declared }, FROM_NETWORK)
    allowance.declared = declared
    return null
  }

  /** RCPT for an inbox. An inbox gets one copy of a mail, so naming it again takes nothing. */
  async recipient(allowance: Allowance, inbox: Inbox): Promise<Refusal | null> {
    const { rates, storage } = this.#options
    const { peer, declared = 0 } = allowance
    const { inbox_uid, organization_id } = inbox
    if (allowance.taken.has(inbox_uid)) return null
    const about = { inbox_uid, organization_id }
    if (inbox.status === 'deliver' && !(await storage.hasRoom(organization_id, declared))) {
      return this.#refuse('organization_storage', { peer, ...about }, NO_ROOM)
    }
    const take = (address: string) => rates.recipient({ kind: 'peer', address }, inbox)
    return this.#count(allowance, inbox_uid, { take, about })
  }

  /** RCPT for the operator. Mail that is too large is refused as soon as its size is known. */
  async operator(allowance: Allowance): Promise<Refusal | null> {
    const { rates } = this.#options
    if ((allowance.declared ?? 0) > LIMITS.inbound.operatorBytes) return TOO_LARGE_FOR_OPERATOR()
    if (allowance.taken.has(OPERATOR)) return null
    const take = (address: string) => rates.operator({ kind: 'peer', address })
    return this.#count(allowance, OPERATOR, { take, about: { recipient: OPERATOR } })
  }

  /** DATA. Takes again what was given back because the client delayed its content. */
  async content(allowance: Allowance): Promise<Refusal | null> {
    clearTimeout(allowance.hold)
    allowance.hold = undefined
    const { peer } = allowance
    for (const entry of allowance.taken.values()) {
      if (entry.takes !== undefined) continue
      const { take, about } = entry.recipient
      const admission = await take(peer)
      if (!admission.ok) return this.#refuse(admission.limit, { peer, ...about }, FOR_RECIPIENT)
      entry.takes = admission.taken
    }
    return null
  }

  /**
   * Ends a transaction. Unless its mail was accepted, nothing counts against the recipients: a client that only
   * announces mail must not use up their limits.
   * @param bytes that arrived, whatever was declared.
   */
  end(allowance: Allowance, accepted: boolean, bytes: number): void {
    const { peer, declared } = allowance
    if (declared === undefined) return
    this.#options.rates.correctBytes(peer, bytes - declared)
    if (accepted) clearTimeout(allowance.hold)
    else this.#release(allowance)
    allowance.declared = undefined
    allowance.hold = undefined
    allowance.taken.clear()
  }

  /** Adds a mail to the storage of its recipients' organizations. */
  stored(rows: readonly NewInbound[], bytes: number): void {
    for (const row of rows) if (row.kind === 'mail') this.#options.storage.add(row.inbox.organization_id, bytes)
  }

  async #count(allowance: Allowance, key: string, recipient: Counted): Promise<Refusal | null> {
    const { peer } = allowance
    const admission = await recipient.take(peer)
    if (!admission.ok) return this.#refuse(admission.limit, { peer, ...recipient.about }, FOR_RECIPIENT)
    if (allowance.declared === undefined) {
      // The connection ended in the meantime.
      this.#options.rates.giveBack(admission.taken)
      return null
    }
    allowance.taken.set(key, { recipient, takes: admission.taken })
    allowance.hold ??= setTimeout(() => this.#release(allowance), this.#options.holdMs ?? HOLD_MS).unref()
    return null
  }

  #release(allowance: Allowance): void {
    clearTimeout(allowance.hold)
    allowance.hold = undefined
    for (const entry of allowance.taken.values()) {
      if (entry.takes !== undefined) this.#options.rates.giveBack(entry.takes)
      entry.takes = undefined
    }
  }

  #refuse(limit: string, about: Readonly<Record<string, unknown>>, refusal: () => Refusal): Refusal {
    mailsDeferred.inc({ limit })
    this.#options.log.info({ ...about, limit }, 'mail deferred by a limit')
    return refusal()
  }
}

const FROM_NETWORK = () => new Refusal(451, '4.7.1 Too much mail from your network, try again later', 'limited')
const FOR_RECIPIENT = () => new Refusal(451, '4.7.1 Too much mail for this recipient, try again later', 'limited')
const TOO_LARGE_FOR_OPERATOR = () => new Refusal(552, '5.3.4 Too large for this recipient: at most 10 MB', 'too_large')
const NO_ROOM = () => new Refusal(452, '4.2.2 The mailbox is full, try again later', 'limited')
