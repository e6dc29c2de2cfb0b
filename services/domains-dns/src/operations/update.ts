import type { Caller } from '@restante/contracts/access'
import type { RequestOf } from '@restante/contracts/operations'
import { ApiError, notFound } from '@restante/service/errors'
import { scheduleCheck } from '../checks/timers.ts'
import type { RecordChecks } from '../records/checks.ts'
import type { RecordKind } from '../records/expected.ts'
import { findNamesBelow, findOwnDomain } from '../registrations/find.ts'
import type { DomainRow } from '../registrations/store.ts'
import { applyChanges } from '../status/apply-changes.ts'
import { lockForChange } from '../status/store.ts'
import { type ChangeOptions, countTrackingInboxes, findProvider } from './change.ts'
import { refuseInboxes, refuseProvider, refuseTracking } from './refusals.ts'

type Body = RequestOf<'domains.update'>['body']
type Switches = { readonly [Name in keyof Body]?: boolean }

/** The record that each switch adds and removes. */
const RECORD_OF = {
  inbound_enabled: 'apex_mx',
  subdomains_enabled: 'wildcard_mx',
  tracking_enabled: 'tracking',
} as const satisfies Readonly<Partial<Record<keyof Body, RecordKind>>>

/** Attempts before a domain that keeps changing is left alone. */
const ATTEMPTS = 2

/**
 * Switches parts of a domain on and off (domains 2.2). What a change depends on is asked before the transaction; if the
 * domain has changed since, it is asked once more.
 */
export async function updateDomain(
  deps: ChangeOptions,
  caller: Caller,
  nameOrAlias: string,
  body: Body,
): Promise<DomainRow> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const row = await findOwnDomain(deps.db, caller, nameOrAlias)
    const changes = changesOf(row, body)
    if (Object.keys(changes).length === 0) return row
    await requirePossible(deps, row, changes)
    const updated = await apply(deps, row, changes)
    if (updated) return updated
  }
  throw new ApiError('race_condition')
}

/** Values that are not the stored ones. */
function changesOf(row: DomainRow, body: Body): Switches {
  const { feedback_enabled, inbound_enabled, subdomains_enabled, tracking_enabled } = body
  return {
    ...(isNew(feedback_enabled, row.feedback_enabled) && { feedback_enabled }),
    ...(isNew(inbound_enabled, row.inbound_enabled) && { inbound_enabled }),
    ...(isNew(subdomains_enabled, row.subdomains_enabled) && { subdomains_enabled }),
    ...(isNew(tracking_enabled, row.tracking_enabled) && { tracking_enabled }),
  }
}

function isNew(given: boolean | undefined, stored: boolean): given is boolean {
  return given !== undefined && given !== stored
}

async function requirePossible(deps: ChangeOptions, row: DomainRow, changes: Switches): Promise<void> {
  const { organization_id: organizationId, name } = row
  if (changes.tracking_enabled === true) {
    refuseTracking(deps.installation)
    const count = await countTrackingInboxes(deps, organizationId, name)
    refuseInboxes(count, `on link.${name} or below it, where images are served from`, 'Delete them first.')
  }
  if (changes.subdomains_enabled === false) {
    refuseInboxes(await countSubdomainInboxes(deps, row), `on subdomains of ${name}`, 'Delete them first.')
  }
  if (changes.inbound_enabled === true && !row.allow_conflicting_provider)
    refuseProvider(name, await findProvider(deps, name), true)
}

/** Inboxes below a domain that belong to no more specific registration. */
async function countSubdomainInboxes(
  { db, gateway }: ChangeOptions,
  { organization_id: organizationId, name }: DomainRow,
): Promise<number> {
  const except = await findNamesBelow(db, organizationId, name)
  const { count } = await gateway.call('gateway.countInboxesOn', {
    organization_id: organizationId,
    domain: name,
    itself: false,
    except: [...except],
  })
  return count
}

/** @returns undefined when the domain was changed since it was read. */
async function apply(deps: ChangeOptions, row: DomainRow, changes: Switches): Promise<DomainRow | undefined> {
  return deps.db.transaction(async (tx) => {
    const now = new Date()
    const locked = await lockForChange(tx, row.uid)
    if (!locked) throw notFound('Domain')
    if (locked.version !== row.version) return undefined
    const records = recordsAfter(locked.records, changes)
    const isDropped = changes.tracking_enabled === false
    if (isDropped) await deps.certificates.drop(tx, row.uid)
    const dropped = isDropped ? { certified_until: null } : {}
    const updated = await applyChanges(tx, deps, locked, { ...changes, ...dropped, records, scheduled_from: now }, now)
    await scheduleCheck(tx, deps.timers, row.uid)
    return updated
  })
}

/** A record that is needed again counts as missing until it is found, whatever was found of it before. */
function recordsAfter(records: RecordChecks, changes: Switches): RecordChecks {
  const switched = new Set<string>(Object.entries(RECORD_OF).flatMap(([name, kind]) => (name in changes ? [kind] : [])))
  return Object.fromEntries(Object.entries(records).filter(([kind]) => !switched.has(kind)))
}
