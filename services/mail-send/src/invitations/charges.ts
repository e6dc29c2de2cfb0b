import type { Caller } from '@restante/contracts/access'
import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import { normalizeAddress } from '@restante/mime'
import { type Database, hashedUuid, sql } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import { requireInbox } from '@restante/service/identity'
import { holdScopes } from '@restante/tenancy'
import { Quota, type Quotas } from '../sending/acceptance/quotas.ts'

export interface ChargesOptions {
  readonly db: Database
  readonly quotas: Quotas
}

type Outcome = InternalResponseOf<'mail-send.chargeInvitations'>

const ADD = sql<{ id: string }, [ids: readonly string[], organizationId: string]>(
  `insert into invitation_charges (id, organization_id) select id, $2 from unnest($1::uuid[]) as given(id)
   on conflict (id) do nothing returning id`,
)

/** A request is repeated within minutes. */
export const FORGET_CHARGES = `delete from invitation_charges where id in (
  select id from invitation_charges where charged_at < now() - interval '${LIMITS.idempotency.kept / 1_000} seconds' limit $1)
  returning 1 as one`
export const DELETE_CHARGES_OF_ORGANIZATION = `delete from invitation_charges where id in (
  select id from invitation_charges where organization_id = $1 limit $2) returning 1 as one`

/** Counts invitations as sends before there is a mail: the calendar changes only if they may be sent (calendar 14.1). */
export class Charges {
  readonly #options: ChargesOptions

  constructor(options: ChargesOptions) {
    this.#options = options
  }

  /**
   * Counts all of them, or none. With the same id a recipient counts once: an operation that is repeated after others have
   * joined is charged for those.
   * @throws ApiError 404 when the inbox is deleted.
   */
  async charge({ id, caller, recipients }: InternalRequestOf<'mail-send.chargeInvitations'>): Promise<Outcome> {
    try {
      await this.#count(id, caller, recipients)
      return { outcome: 'charged' }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'rate_limit_exceeded') return limited(error)
      throw error
    }
  }

  async #count(id: string, caller: Caller, recipients: readonly string[]): Promise<void> {
    const { db, quotas } = this.#options
    const inbox = requireInbox(caller)
    // In a fixed order, so that calls at the same time cannot deadlock on them.
    const ids = [...new Set(recipients.map((address) => hashedUuid(`${id} ${normalizeAddress(address)}`)))].sort()
    await db.transaction(async (tx) => {
      if (!(await holdScopes(tx, [inbox.uid]))) throw notFound('Inbox')
      const added = await tx.query(ADD, ids, caller.organization_id)
      if (added.length === 0) return
      await Quota.charge(tx, [quotas.ofInvitations(caller, inbox, added.length)], new Date())
    })
  }
}

function limited({ message, options: { retryAfter = 1, details = {} } }: ApiError): Outcome {
  return { outcome: 'limited', message, retry_after: retryAfter, details: { ...details } }
}
