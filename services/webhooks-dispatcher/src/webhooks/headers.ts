import type { Caller } from '@restante/contracts/access'
import type { RequestOf } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Database } from '@restante/service/database'
import { invalid, notFound } from '@restante/service/errors'
import { scopeFilter } from '@restante/service/identity'
import type { SecretBox } from '@restante/service/secrets'
import { openHeaders, sealHeaders } from '../delivery/secrets.ts'
import { requireCurrent } from './races.ts'
import { findHeaders, lockWebhook, saveHeaders } from './store.ts'

type Body = RequestOf<'webhooks.updateHeaders'>['body']
type Headers = Readonly<Record<string, string>>

interface HeaderOptions {
  readonly db: Database
  readonly box: SecretBox
}

/** Names of a webhook's custom headers, as they were given. Values are never shown. */
export async function headerNames({ db, box }: HeaderOptions, caller: Caller, idOrAlias: string): Promise<string[]> {
  const found = await findHeaders(db, scopeFilter(caller), idOrAlias)
  if (!found) throw notFound('Webhook')
  return found.headers ? Object.keys(openHeaders(box, found.id, found.headers)) : []
}

/** Sets and removes custom headers, all or nothing (events 7.5). They count from the next attempt on. */
export async function changeHeaders(
  { db, box }: HeaderOptions,
  caller: Caller,
  idOrAlias: string,
  body: Body,
): Promise<void> {
  const scope = scopeFilter(caller)
  await db.transaction(async (tx) => {
    const webhook = await lockWebhook(tx, scope, idOrAlias)
    await requireCurrent(tx, caller)
    const found = webhook && (await findHeaders(tx, scope, webhook.id))
    if (!found) throw notFound('Webhook')
    const before = found.headers ? openHeaders(box, found.id, found.headers) : {}
    const headers = changedHeaders(before, body)
    const isEmpty = Object.keys(headers).length === 0
    await saveHeaders(tx, found.id, isEmpty ? null : sealHeaders(box, found.id, headers))
  })
}

/**
 * Headers after a change; names compare without case, and a header that is set again takes its new spelling.
 * @throws ApiError 400 when they would be too many or too long together.
 */
export function changedHeaders(before: Headers, { headers: set = {}, remove_headers: removed = [] }: Body): Headers {
  const gone = new Set([...Object.keys(set), ...removed].map((name) => name.toLowerCase()))
  const kept = Object.entries(before).filter(([name]) => !gone.has(name.toLowerCase()))
  const all = [...kept, ...Object.entries(set)]
  const { headers: most, headerBytes } = LIMITS.webhook
  if (all.length > most) throw invalid(['headers'], `A webhook can have at most ${most} headers; remove one`)
  const bytes = all.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0)
  if (bytes > headerBytes) throw invalid(['headers'], `Must be at most ${headerBytes} bytes together; remove one`)
  return Object.fromEntries(all)
}
