import type { Schedule } from '@restante/jobs'
import type { Database } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import type { Handlers } from '@restante/service/http'
import { requiredKinds } from '../records/expected.ts'
import type { Installation } from '../records/installation.ts'
import { findOwnDomain } from '../registrations/find.ts'
import type { DomainRow } from '../registrations/store.ts'
import { isHeldElsewhere, lockForChange } from '../status/store.ts'
import { awaitCheck, type RequestedCheck, requestCheck } from './request.ts'
import type { CheckTimers } from './timers.ts'

export interface VerifyOptions {
  readonly db: Database
  readonly timers: Schedule<CheckTimers>
  readonly installation: Installation
}

/** The operation with which an owner has the records of a domain checked (domains 7.2). */
export function verifyRoutes(deps: VerifyOptions): Pick<Handlers<'domains-dns'>, 'domains.verify'> {
  return {
    'domains.verify': async ({ caller, params }) => {
      const { uid } = await findOwnDomain(deps.db, caller, params.domain_id)
      await report(deps, await request(deps, uid))
    },
  }
}

function request({ db, timers }: VerifyOptions, uid: string): Promise<RequestedCheck> {
  return db.transaction(async (tx) => {
    const now = new Date()
    const row = await lockForChange(tx, uid)
    if (!row) throw notFound('Domain')
    if (await isHeldElsewhere(tx, row, now)) throw provenElsewhere(row)
    return requestCheck(tx, timers, row, now)
  })
}

async function report({ db, installation }: VerifyOptions, requested: RequestedCheck): Promise<void> {
  const check = await awaitCheck(db, requested)
  if (check.outcome === 'deleted') throw notFound('Domain')
  if (check.outcome !== 'ended') return
  if (!needsSame(check.row, requested.row, installation)) throw new ApiError('race_condition')
  if (check.row.status === 'FAILED' && check.row.reason === 'dns_records_invalid') throw provenElsewhere(check.row)
  if (check.isAnswered) return
  throw new ApiError('service_unavailable', {
    message: 'DNS gave no answer about this domain',
    fix: 'Try again in a minute. If it stays so, check that the name servers of the domain answer, and its DNSSEC.',
  })
}

/** Whether a check of one row holds for the other. */
function needsSame(one: DomainRow, other: DomainRow, installation: Installation): boolean {
  return String(requiredKinds(one, installation)) === String(requiredKinds(other, installation))
}

function provenElsewhere({ name }: DomainRow): ApiError {
  return new ApiError('unprocessable', {
    message: `Another organization has proven that ${name} is its domain`,
    fix: 'Delete this domain, or have the other organization delete its own; the name is free 30 days later.',
  })
}
