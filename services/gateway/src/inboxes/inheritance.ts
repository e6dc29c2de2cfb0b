import { sql } from '@restante/service/database'
import type { Inbox } from '../generated/prisma/client.ts'
import type { Tx } from '../storage/database.ts'
import { inboxChanged, type TenancyEvents } from '../tenancy/events.ts'
import { type Metadata, type MetadataChange, metadataFromRow } from './metadata.ts'
import { changeInbox, dropAlias } from './store.ts'

const DISPLAY_NAME = 'display_name'
const ALIAS = 'client_id'
const METADATA = 'metadata.'

/** The set members of an inbox, by the names that `inherited` uses. Pure. */
export function settings(inbox: Pick<Inbox, 'displayName' | 'clientId' | 'metadata'>): string[] {
  return [
    ...(inbox.displayName === null ? [] : [DISPLAY_NAME]),
    ...(inbox.clientId === null ? [] : [ALIAS]),
    ...Object.keys(metadataFromRow(inbox.metadata)).map((key) => METADATA + key),
  ]
}

/** The named members of an update; a named member is the caller's own from then on, whatever its value. */
export interface NamedChange {
  readonly display_name?: string | undefined
  readonly metadata?: MetadataChange | null | undefined
}

/** What is still inherited after an update. Pure. */
export function stillInherited(inherited: readonly string[], { display_name, metadata }: NamedChange): string[] {
  const named = new Set(Object.keys(metadata ?? {}).map((key) => METADATA + key))
  if (display_name !== undefined) named.add(DISPLAY_NAME)
  return inherited.filter((name) => !named.has(name) && !(metadata === null && name.startsWith(METADATA)))
}

/** An inbox without its inherited settings; its name is then that of a new inbox. Pure. */
export function withoutInherited(
  inbox: Pick<Inbox, 'displayName' | 'metadata' | 'inherited'>,
  defaultDisplayName: string | undefined,
): { readonly displayName: string | null; readonly metadata: Metadata } {
  const inherited = new Set(inbox.inherited)
  const own = Object.entries(metadataFromRow(inbox.metadata)).filter(([key]) => !inherited.has(METADATA + key))
  return {
    displayName: inherited.has(DISPLAY_NAME) ? (defaultDisplayName ?? null) : inbox.displayName,
    metadata: Object.fromEntries(own),
  }
}

const LIVE = 'select uid from inboxes where organization_id = $1 and deleted_at is null'
const LOCK_SET = sql<{ uid: string }, [organizationId: string]>(`
${LIVE}
   and (status <> 'active' or display_name is not null or client_id is not null or metadata <> '{}' or inherited <> '{}')
 order by uid for update`)
const LOCK_INHERITED = sql<{ uid: string }, [organizationId: string]>(`
${LIVE} and inherited <> '{}' order by uid for update`)

/** Live inboxes of a locked organization, each locked. While it is locked no other request changes them. */
async function lockInboxes(tx: Tx, organizationId: string, which: typeof LOCK_SET): Promise<Inbox[]> {
  const held = await tx.query(which, organizationId)
  if (held.length === 0) return []
  const orm = await tx.orm()
  return orm.inbox.findMany({ where: { uid: { in: held.map(({ uid }) => uid) } }, orderBy: { uid: 'asc' } })
}

/**
 * Resumes the inboxes of an organization that is taken over, and records what its successor inherits (identity 5.1).
 */
export async function handOnInboxes(tx: Tx, events: TenancyEvents, organizationId: string): Promise<void> {
  for (const inbox of await lockInboxes(tx, organizationId, LOCK_SET)) {
    const { displayName, metadata } = inbox
    const change = { displayName, metadata: metadataFromRow(metadata), status: 'active', inherited: settings(inbox) }
    await events.record(tx, inboxChanged(await changeInbox(tx, inbox, change)))
  }
}

/** Removes settings inherited from before a take-over that the human has now confirmed (identity 5.1). */
export async function endInheritance(
  tx: Tx,
  events: TenancyEvents,
  organizationId: string,
  defaultDisplayName: string | undefined,
): Promise<void> {
  for (const inbox of await lockInboxes(tx, organizationId, LOCK_INHERITED)) {
    const { status } = inbox
    if (inbox.inherited.includes(ALIAS)) await dropAlias(tx, inbox.uid)
    const change = { ...withoutInherited(inbox, defaultDisplayName), status, inherited: [] }
    await events.record(tx, inboxChanged(await changeInbox(tx, inbox, change)))
  }
}
