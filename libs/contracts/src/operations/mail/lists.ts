import { z } from 'zod'
import { BASE, define, group, idParam, VOID } from '../../definition/define.ts'
import { listEntry } from '../../resources/list-entry.ts'
import { PAGE } from '../../resources/page.ts'
import { pageQuery } from '../../schemas/query.ts'
import { line } from '../../schemas/text.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { LIST_DIRECTIONS, LIST_TYPES } from '../../vocabulary/mail/lists.ts'
import { TIERS } from '../../vocabulary/tiers.ts'

const list = { direction: z.enum(LIST_DIRECTIONS), type: z.enum(LIST_TYPES) }

const LISTS = { service: 'mail-send', prefixes: TIERS, tiers: TIERS } as const

/** Allow and block lists (mail 12). A route reaches the lists of its own tier only, never those above or below. */
export const listOperations = group({
  'lists.list': define({
    ...BASE,
    ...LISTS,
    id: 'lists.list',
    method: 'GET',
    path: '/lists/{direction}/{type}',
    permission: 'list_entry_read',
    summary: 'List the entries of an allow or block list, in alphabetical order',
    params: z.object(list),
    query: z.object(pageQuery),
    response: z.object({ ...PAGE, entries: z.array(listEntry) }),
  }),
  'lists.create': define({
    ...BASE,
    ...LISTS,
    id: 'lists.create',
    method: 'POST',
    path: '/lists/{direction}/{type}',
    permission: 'list_entry_create',
    summary: 'Add an address or a domain to an allow or block list',
    errors: ['conflict'],
    params: z.object(list),
    body: z.object({
      entry: line({ max: LIMITS.listEntry.entry }).meta({
        description: 'An address, or a domain, which stands for every address of exactly that domain.',
      }),
      reason: line({ max: LIMITS.listEntry.reason }).optional(),
    }),
    response: listEntry,
  }),
  'lists.get': define({
    ...BASE,
    ...LISTS,
    id: 'lists.get',
    method: 'GET',
    path: '/lists/{direction}/{type}/{entry}',
    permission: 'list_entry_read',
    summary: 'Get an entry of an allow or block list',
    params: z.object({ ...list, entry: idParam }),
    response: listEntry,
  }),
  'lists.delete': define({
    ...BASE,
    ...LISTS,
    ...VOID,
    id: 'lists.delete',
    method: 'DELETE',
    path: '/lists/{direction}/{type}/{entry}',
    permission: 'list_entry_delete',
    summary: 'Delete an entry of an allow or block list; those that the service made stay',
    errors: ['cannot_delete'],
    params: z.object({ ...list, entry: idParam }),
  }),
})
