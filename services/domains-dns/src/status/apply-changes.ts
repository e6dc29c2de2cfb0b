import { isDeepStrictEqual } from 'node:util'
import { topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import type { RecordChecks } from '../records/checks.ts'
import { type RecordKind, requiredKinds } from '../records/expected.ts'
import type { Installation } from '../records/installation.ts'
import { domainDocument } from '../registrations/document.ts'
import { publishState, stateOf } from '../registrations/events.ts'
import { type DomainRow, publishedKeyOf } from '../registrations/store.ts'
import { hasFallen, NOT_FAILING } from './failing.ts'
import { isSendingReady } from './sending-ready.ts'
import { type Standing, standingOf } from './standing.ts'
import { isHeldElsewhere, lockName, lockRivals, save } from './store.ts'

export interface ApplyOptions {
  readonly outbox: Outbox
  readonly installation: Installation
}

/** What a transaction changes of a registration; everything else follows from it. */
export type Changes = Partial<
  Pick<
    DomainRow,
    | 'inbound_enabled'
    | 'subdomains_enabled'
    | 'feedback_enabled'
    | 'tracking_enabled'
    | 'records'
    | 'sending_checks'
    | 'converging_since'
    | 'failing_checks'
    | 'failing_since'
    | 'barred_at'
    | 'certified_until'
    | 'scheduled_from'
    | 'checked_at'
    | 'checks'
  >
>

const events = topics['domains.events']

/**
 * Writes changes of a registration and the status that follows from them, and publishes both. When it becomes verified,
 * the registrations of the name by other organizations fail in the same transaction, so that only one holds the name.
 * @param row locked with `lockForChange`.
 * @returns the row as it is now.
 */
export async function applyChanges(
  tx: Tx,
  options: ApplyOptions,
  row: DomainRow,
  changes: Changes,
  now: Date,
): Promise<DomainRow> {
  await lockName(tx, row.name)
  const isHeld = await isHeldElsewhere(tx, row, now)
  const changed = marked(
    row,
    changedRow(row, changes, { isHeld, installation: options.installation, now }),
    options,
    now,
  )
  await save(tx, changed)
  if (changed.version !== row.version) await publishState(tx, options.outbox, changed, options.installation)
  if (changed.status === 'VERIFIED' && row.status !== 'VERIFIED') {
    await publishVerified(tx, options, changed, now)
    for (const rival of await lockRivals(tx, changed)) await applyChanges(tx, options, rival, {}, now)
  }
  return changed
}

interface Circumstances {
  /** Whether another organization holds proof of the name. */
  readonly isHeld: boolean
  readonly installation: Installation
  readonly now: Date
}

/** A registration after changes, with the status that follows. Pure. */
export function changedRow(row: DomainRow, changes: Changes, circumstances: Circumstances): DomainRow {
  const { isHeld, installation, now } = circumstances
  const given = { ...row, ...changes }
  const required = requiredKinds(given, installation)
  const records = only(given.records, required)
  const isValid = required.every((kind) => records[kind]?.status === 'VALID')
  const before: DomainRow = {
    ...given,
    records,
    converging_since: isValid ? (given.converging_since ?? now) : null,
  }
  const standing = steady(before, { isHeld, required }, now)
  const isVerified = standing.status === 'VERIFIED'
  const hadStatus = row.status === 'VERIFIED'
  const verifiedAt = isVerified ? (row.verified_at ?? now) : row.verified_at
  // Until it proves the name again: that the other has lost its proof gives nothing back.
  const lostAt = isVerified ? null : (row.lost_at ?? (isHeld ? now : null))
  const dkimFailingSince = failingSince(before, verifiedAt, now)
  return {
    ...before,
    ...standing,
    ...(hadStatus && isVerified ? {} : NOT_FAILING),
    // One that was verified begins the schedule of those that are not.
    scheduled_from: hadStatus && !isVerified ? now : before.scheduled_from,
    verified_at: verifiedAt,
    lost_at: lostAt,
    last_verified_at: isVerified || hadStatus ? now : row.last_verified_at,
    dkim_failing_since: dkimFailingSince,
    sending_ready: isSendingReady(
      { verifiedAt, dkimFailingSince, isBarred: before.barred_at !== null, isLost: lostAt !== null },
      now,
    ),
  }
}

/** The status, which a verified domain keeps until it needs another record, has failed for long, or may not send. */
function steady(
  row: DomainRow,
  { isHeld, required }: { readonly isHeld: boolean; readonly required: readonly RecordKind[] },
  now: Date,
): Standing {
  const isBarred = row.barred_at !== null
  const standing = standingOf(
    {
      isChecked: row.checked_at !== null,
      isHeld,
      required,
      records: row.records,
      sending: row.sending_checks,
      isBarred,
      isCertified: !required.includes('tracking') || row.certified_until !== null,
      convergingSince: row.converging_since,
    },
    now,
  )
  const needsMore = required.some((kind) => row.records[kind] === undefined)
  const mayStay = row.status === 'VERIFIED' && !isHeld && !isBarred && !needsMore && !hasFallen(row, now)
  return mayStay ? { status: 'VERIFIED', reason: null } : standing
}

/** One that was never verified has no key that receivers know, so nothing fails yet. */
function failingSince({ records, dkim_failing_since }: DomainRow, verifiedAt: Date | null, now: Date): Date | null {
  if (verifiedAt === null || records.dkim === undefined || records.dkim.status === 'VALID') return null
  return dkim_failing_since ?? now
}

function only(records: RecordChecks, required: readonly RecordKind[]): RecordChecks {
  return Object.fromEntries(required.flatMap((kind) => (records[kind] ? [[kind, records[kind]]] : [])))
}

/** With a new version where something changed that is published, and a new time where its owner can see it. */
function marked(row: DomainRow, changed: DomainRow, { installation }: ApplyOptions, now: Date): DomainRow {
  const isSeen = !isDeepStrictEqual(visible(row), visible(changed))
  const isPublished = isSeen || !isDeepStrictEqual(stateOf(row, installation), stateOf(changed, installation))
  return {
    ...changed,
    version: row.version + (isPublished ? 1 : 0),
    updated_at: isSeen ? now : row.updated_at,
  }
}

function visible(row: DomainRow) {
  const { status, reason, inbound_enabled, subdomains_enabled, feedback_enabled, tracking_enabled, records } = row
  const found = Object.fromEntries(Object.entries(records).map(([kind, check]) => [kind, [check.status, check.reason]]))
  return { status, reason, inbound_enabled, subdomains_enabled, feedback_enabled, tracking_enabled, found }
}

async function publishVerified(tx: Tx, { outbox, installation }: ApplyOptions, row: DomainRow, now: Date) {
  const id = crypto.randomUUID()
  const domain = domainDocument(row, await publishedKeyOf(tx, row.uid), installation)
  const document = { type: 'event' as const, event_type: 'domain.verified' as const, event_id: id, domain }
  const about = {
    organization_id: row.organization_id,
    ...(row.pod_id !== null && { pod_id: row.pod_id }),
    domain_uid: row.uid,
  }
  await outbox.add(tx, events, events.event('domain.verified', document, { id, time: now, about }))
}
