import type { Caller } from '@restante/contracts/access'
import type { ListDirection, ListType } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import { type NamedEntry, readListEntry } from '@restante/mime'
import type { Database, Tx } from '@restante/service/database'
import { ApiError, invalid, notFound } from '@restante/service/errors'
import { scopeFilter } from '@restante/service/identity'
import { deletedAmong, holdScopes } from '@restante/tenancy'
import { takeOvers } from '../take-overs/table.ts'
import { changedEvent, deletedEvent, listsTopic } from './events.ts'
import { pathOf } from './path.ts'
import { type EntryRow, type EntryScope, type List, listEntries } from './store.ts'

export interface EntryTools {
  readonly db: Database
  readonly outbox: Outbox
}

/** What a request names of a list; whose it is follows from its scope (mail 3 rule 1). */
export interface NamedList {
  readonly direction: ListDirection
  readonly type: ListType
}

/** The list of the narrowest scope that the request names, or its key is bound to. */
export function listOf(caller: Caller, { direction, type }: NamedList): List & EntryScope {
  const { organizationId: organization_id, inboxUid } = scopeFilter(caller)
  const pod_id = caller.inbox?.pod_id ?? caller.pod_id ?? null
  const scope = { organization_id, pod_id, inbox_uid: inboxUid ?? null, direction, type }
  if (inboxUid !== undefined) return { ...scope, tier: 'inbox', scope_id: inboxUid }
  return pod_id === null
    ? { ...scope, tier: 'organization', scope_id: organization_id }
    : { ...scope, tier: 'pod', scope_id: pod_id }
}

/**
 * Adds an entry; an entry that exists stays, with another reason if one is given (mail 12.2).
 * @throws ApiError 400 at `entry`; 403 for a send list while unverified; 404 when the scope was just deleted; 409 when
 *   the opposite list of the scope has the entry.
 */
export async function createEntry(
  { db, outbox }: EntryTools,
  caller: Caller,
  named: NamedList,
  body: { readonly entry: string; readonly reason?: string | undefined },
): Promise<EntryRow> {
  requireVerified(caller, named, 'list_entry_create')
  const name = readListEntry(body.entry)
  if (name === undefined) throw invalid(['entry'], 'Expected an address such as user@example.com, or a domain')
  const list = listOf(caller, named)
  return db.transaction(async (tx) => {
    await takeOvers.requireCurrent(tx, caller)
    await requireLiving(tx, list)
    await listEntries.lockName(tx, list.scope_id, name.entry)
    const existing = await listEntries.lock(tx, list, name.entry)
    const takeOver = caller.take_overs ?? 0
    if (existing && existing.take_overs < takeOver) await listEntries.keep(tx, existing.id, takeOver)
    if (existing && (existing.read_only || body.reason === undefined || body.reason === existing.reason))
      return existing
    if (!existing) await requireNoOpposite(tx, list, caller.inbox?.address, name)
    const row =
      existing && body.reason !== undefined
        ? await listEntries.changeReason(tx, existing.id, body.reason)
        : await listEntries.insert(tx, { ...list, ...name, reason: body.reason, takeOvers: takeOver })
    // A report has suppressed the address a moment ago.
    if (!row) return found(await listEntries.get(tx, list, name.entry))
    await outbox.add(tx, listsTopic, changedEvent(row))
    return row
  })
}

/** @throws ApiError 404 when this list does not have the entry. */
export async function getEntry({ db }: EntryTools, caller: Caller, named: NamedList, entry: string): Promise<EntryRow> {
  return found(await listEntries.get(db, listOf(caller, named), nameIn(entry)))
}

/** @throws ApiError 403 for a send list while unverified; 404; 409 for an entry that the service made. */
export async function deleteEntry(
  { db, outbox }: EntryTools,
  caller: Caller,
  named: NamedList,
  entry: string,
): Promise<void> {
  requireVerified(caller, named, 'list_entry_delete')
  await db.transaction(async (tx) => {
    await takeOvers.requireCurrent(tx, caller)
    const row = found(await listEntries.lock(tx, listOf(caller, named), nameIn(entry)))
    if (row.read_only) {
      throw new ApiError('cannot_delete', {
        message: 'The entry was made by the service and cannot be deleted',
        fix: `${row.entry} is blocked because of: ${row.reason ?? 'a report'}. Omit it from the recipients.`,
      })
    }
    await listEntries.delete(tx, row.id)
    await outbox.add(tx, listsTopic, deletedEvent(row, new Date()))
  })
}

/** Entries deleted in one statement. */
const BATCH = 500
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Deletes the entries that callers made before a take-over that the human has confirmed (identity 5.1). Repeating it, in
 * any order, has one effect: entries of the successor have the number of this take-over or a higher one.
 */
export async function deleteEarlierEntries(
  tx: Tx,
  outbox: Outbox,
  { organization_id, take_overs }: { readonly organization_id: string; readonly take_overs: number },
): Promise<void> {
  let after = FIRST_ID
  for (let rows: EntryRow[] | undefined; rows === undefined || rows.length === BATCH; ) {
    rows = await listEntries.deleteEarlier(tx, organization_id, take_overs, after, BATCH)
    after =
      rows
        .map(({ id }) => id)
        .toSorted()
        .at(-1) ?? after
    const time = new Date()
    await outbox.addAll(
      tx,
      listsTopic,
      rows.map((row) => deletedEvent(row, time)),
    )
  }
}

function found(row: EntryRow | undefined): EntryRow {
  if (!row) throw notFound('List entry')
  return row
}

/** An entry in a path is found in every spelling; what is no entry at all is on no list. */
function nameIn(entry: string): string {
  return readListEntry(entry)?.entry ?? ''
}

/** What an unverified organization may send is fixed; lists for it would have no effect (mail 12.2, identity 5.4). */
function requireVerified({ unverified }: Caller, { direction }: NamedList, permission: string): void {
  if (!unverified || direction !== 'send') return
  const fix = `'${permission}' is denied for send lists until the organization is verified, with POST /v0/agent/verify.`
  throw new ApiError('missing_permission', { fix })
}

/** The gateway admitted the request a moment ago. The lists of a scope deleted since then must not return. */
async function requireLiving(tx: Tx, { organization_id, pod_id, inbox_uid }: EntryScope): Promise<void> {
  const scopes = [organization_id, pod_id, inbox_uid].filter((id) => id !== null)
  if (await holdScopes(tx, scopes)) return
  const deleted = await deletedAmong(tx, scopes)
  // The default pod has the id of its organization, and ends with it.
  if (deleted.has(organization_id)) throw new ApiError('unknown_api_key')
  throw notFound(pod_id !== null && deleted.has(pod_id) ? 'Pod' : 'Inbox')
}

async function requireNoOpposite(
  tx: Tx,
  list: List & EntryScope,
  address: string | undefined,
  { entry }: NamedEntry,
): Promise<void> {
  const type = list.type === 'allow' ? 'block' : 'allow'
  const opposite = await listEntries.get(tx, { ...list, type }, entry)
  if (!opposite) return
  throw new ApiError('conflict', {
    message: `The ${type} list of the same direction has ${entry}`,
    fix: opposite.read_only
      ? `The service made that entry because of: ${opposite.reason ?? 'a report'}. It cannot be deleted.`
      : `Delete that entry first: DELETE ${pathOf({ ...list, type }, { podId: list.pod_id, address }, entry)}`,
  })
}
