import { z } from 'zod'
import { BASE, define, group, idParam, VOID } from '../../definition/define.ts'
import { inbox } from '../../resources/inbox.ts'
import { PAGE } from '../../resources/page.ts'
import { metadata, metadataChange } from '../../schemas/metadata.ts'
import { orderedPageQuery, searchPageQuery, searchText } from '../../schemas/query.ts'
import { clientId, line } from '../../schemas/text.ts'
import { USERNAME } from '../../vocabulary/ids.ts'
import { LIMITS } from '../../vocabulary/limits.ts'

const USERNAME_RULE = 'Must be 1 to 64 characters of a-z 0-9 . _ - without a leading, trailing or doubled dot'

/** Local part of a new inbox, folded to lower case; `+` is left to plus addressing (identity 8.2). */
export const username = z
  .string()
  .max(LIMITS.inbox.username, { error: USERNAME_RULE, abort: true })
  .toLowerCase()
  .regex(USERNAME, { error: USERNAME_RULE })

/** Sender name of an inbox (identity 8.2). */
/** A sender's name. Characters of direction would let mail programs draw another name than the one that was compared. */
export const displayName = line({ max: LIMITS.inbox.displayName })
  .refine((text) => !/\p{Bidi_Control}/u.test(text), {
    error: 'Must not contain characters that set the direction of text',
  })
  .meta({ description: 'Sender name; "" means none.' })
const status = z.enum(['active', 'paused'])
const params = z.object({ inbox_id: idParam })

const INBOX = { service: 'gateway', prefixes: ['organization', 'pod'] } as const

/** Inboxes (identity 8). */
export const inboxOperations = group({
  'inboxes.create': define({
    ...BASE,
    ...INBOX,
    id: 'inboxes.create',
    method: 'POST',
    path: '/inboxes',
    tiers: ['organization', 'pod'],
    permission: 'inbox_create',
    summary: 'Create an inbox; every member is optional',
    errors: [
      'not_found',
      'unprocessable',
      'domain_not_verified',
      'already_exists',
      'resource_taken',
      'resource_deleting',
      'limit_exceeded',
      'conflict',
    ],
    body: z.object({
      username: username.optional(),
      domain: line({ min: 1, max: 253 }).toLowerCase().optional(),
      display_name: displayName.optional(),
      client_id: clientId.optional(),
      status: status.optional(),
      metadata: metadata.optional(),
    }),
    response: inbox,
  }),
  'inboxes.list': define({
    ...BASE,
    ...INBOX,
    id: 'inboxes.list',
    method: 'GET',
    path: '/inboxes',
    tiers: ['organization', 'pod', 'inbox'],
    permission: 'inbox_read',
    summary: 'List inboxes, newest first',
    query: z.object(orderedPageQuery),
    response: z.object({ ...PAGE, inboxes: z.array(inbox) }),
  }),
  'inboxes.search': define({
    ...BASE,
    ...INBOX,
    id: 'inboxes.search',
    method: 'GET',
    path: '/inboxes/search',
    tiers: ['organization', 'pod', 'inbox'],
    permission: 'inbox_read',
    summary: 'Search inboxes by the beginnings of words in address and name, best match first',
    query: z.object({ q: searchText(LIMITS.inbox.search), ...searchPageQuery }),
    response: z.object({ ...PAGE, inboxes: z.array(inbox) }),
  }),
  'inboxes.get': define({
    ...BASE,
    ...INBOX,
    id: 'inboxes.get',
    method: 'GET',
    path: '/inboxes/{inbox_id}',
    tiers: ['organization', 'pod', 'inbox'],
    permission: 'inbox_read',
    summary: 'Get an inbox by address or client_id',
    params,
    response: inbox,
  }),
  'inboxes.update': define({
    ...BASE,
    ...INBOX,
    id: 'inboxes.update',
    method: 'PATCH',
    path: '/inboxes/{inbox_id}',
    tiers: ['organization', 'pod', 'inbox'],
    permission: 'inbox_update',
    summary: 'Change name or metadata of an inbox, pause or resume it',
    params,
    body: z
      .object({
        display_name: displayName.optional(),
        status: status.optional(),
        metadata: metadataChange.nullable().optional(),
      })
      .refine((body) => Object.values(body).some((member) => member !== undefined), {
        error: 'Give at least one of display_name, status, metadata',
      }),
    response: inbox,
  }),
  'inboxes.delete': define({
    ...BASE,
    ...INBOX,
    ...VOID,
    id: 'inboxes.delete',
    method: 'DELETE',
    path: '/inboxes/{inbox_id}',
    tiers: ['organization', 'pod', 'inbox'],
    permission: 'inbox_delete',
    summary: 'Delete an inbox with everything in it',
    params,
  }),
})
