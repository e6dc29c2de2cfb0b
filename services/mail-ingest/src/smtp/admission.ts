import type { RecipientAnswer } from '@restante/contracts/internal'
import type { Logger } from '@restante/service/telemetry'
import type { StorageQuota } from '../inbound/storage-quota.ts'
import type { NewInbound } from '../inbound/store.ts'
import { mailsDeferred } from '../inbound/telemetry.ts'
import type { Take } from '../rates/counter.ts'
import type { InboundRates } from '../rates/inbound-rates.ts'
import { Refusal } from './refusal.ts'

/** What the current transaction of a session has taken from the rates. */
export interface Allowance {
  readonly peer: string
  /** As declared by MAIL; undefined outside of a transaction. */
  declared: number | undefined
  /** Its inboxes, each with what was taken for it; undefined after that was given back. */
  readonly taken: Map<string, { readonly inbox: Inbox; takes: readonly Take[] | undefined }>
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

/** Longer than a client with a mail to send needs between RCPT and DATA. */
const HOLD_MS = 30_000

type Inbox = Exclude<RecipientAnswer, { status: 'unknown' }>

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
    const about = { peer, inbox_uid, organization_id }
    if (inbox.status === 'deliver' && !(await storage.hasRoom(organization_id, declared))) {
      return this.#refuse('organization_storage', about, NO_ROOM)
    }
    const admission = await rates.recipient({ kind: 'peer', address: peer }, inbox)
    if (!admission.ok) return this.#refuse(admission.limit, about, FOR_RECIPIENT)
    if (allowance.declared === undefined) {
      // The connection ended in the meantime.
      rates.giveBack(admission.taken)
      return null
    }
    allowance.taken.set(inbox_uid, { inbox, takes: admission.taken })
    allowance.hold ??= setTimeout(() => this.#release(allowance), this.#options.holdMs ?? HOLD_MS).unref()
    return null
  }

  /** DATA. Takes again what was given back because the client delayed its content. */
  async content(allowance: Allowance): Promise<Refusal | null> {
    clearTimeout(allowance.hold)
    allowance.hold = undefined
    const { peer } = allowance
    for (const entry of allowance.taken.values()) {
      if (entry.takes !== undefined) continue
      const { inbox_uid, organization_id } = entry.inbox
      const admission = await this.#options.rates.recipient({ kind: 'peer', address: peer }, entry.inbox)
      if (!admission.ok) return this.#refuse(admission.limit, { peer, inbox_uid, organization_id }, FOR_RECIPIENT)
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
const NO_ROOM = () => new Refusal(452, '4.2.2 The mailbox is full, try again later', 'limited')
