import type { ListEntryRecord } from '@restante/contracts/resources'
import { type Cursors, type Handlers, KeysetPage } from '@restante/service/http'
import { createEntry, deleteEntry, type EntryTools, getEntry, listOf } from './entries.ts'
import { type EntryRow, listEntries } from './store.ts'

/** The operations of allow and block lists (mail 12.1). */
export function listRoutes(
  tools: EntryTools & { readonly cursors: Cursors },
): Pick<Handlers<'mail-send'>, 'lists.list' | 'lists.create' | 'lists.get' | 'lists.delete'> {
  const { db, cursors } = tools
  return {
    'lists.list': async ({ caller, params, query }) => {
      const list = listOf(caller, params)
      const page = new KeysetPage(cursors, { operation: 'lists.list', within: list, query })
      const rows = await listEntries.page(db, list, page)
      const position = ({ entry: rank, created_at: time, id }: EntryRow) => ({ rank, time, id })
      const { items, members } = page.answer(rows, position, (row) => recordOf(row, caller.inbox?.address))
      return { ...members, entries: items }
    },

    'lists.create': async ({ caller, params, body }) =>
      recordOf(await createEntry(tools, caller, params, body), caller.inbox?.address),

    'lists.get': async ({ caller, params }) =>
      recordOf(await getEntry(tools, caller, params, params.entry), caller.inbox?.address),

    'lists.delete': async ({ caller, params }) => {
      await deleteEntry(tools, caller, params, params.entry)
      return undefined
    },
  }
}

function recordOf(row: EntryRow, inboxAddress: string | undefined): ListEntryRecord {
  const { organization_id, pod_id, entry, entry_type, direction, type: list_type, reason, read_only } = row
  return {
    organization_id,
    ...(pod_id !== null && { pod_id }),
    ...(inboxAddress !== undefined && { inbox_id: inboxAddress }),
    entry,
    entry_type,
    direction,
    list_type,
    ...(reason !== null && { reason }),
    read_only,
    created_at: row.created_at.toISOString(),
  }
}
