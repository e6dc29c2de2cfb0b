import type { BlobStore } from '@restante/blobs'
import type { Check, CheckPage, Finding } from '@restante/contracts/internal'
import { missingAmong, missingBytes } from '@restante/kit'
import { type Database, sql } from '@restante/service/database'
import { outboundBlob } from '../delivery/outbound/sends.ts'
import type { DeliveryQueue } from '../delivery/queue/delivery-queue.ts'
import { fileBlob } from '../files/store.ts'

const PAGE = 200
const FIRST = '00000000-0000-0000-0000-000000000000'

const SENDS = sql<{ id: string }, [after: string, rows: number]>(
  'select id from sends where id > $1 and dropped_at is null order by id limit $2',
)
const DROPPED = sql<never, [ids: readonly string[]]>(
  'update sends set dropped_at = coalesce(dropped_at, now()), copy = null where id = any($1::uuid[])',
)
const FILES = sql<{ id: string }, [after: string, rows: number]>(
  'select id from files where id > $1 and draft_id is not null order by id limit $2',
)
const REFERENCED = sql<{ id: string }, [ids: readonly string[]]>(`
select id from sends where id = any($1::uuid[]) and dropped_at is null
union all
select send_id from pending_blobs where send_id = any($1::uuid[])
union all
select id from files where id = any($1::uuid[])`)

interface Options {
  readonly db: Database
  readonly blobs: BlobStore
  readonly queue: DeliveryQueue
}

/**
 * Checks that the blob store has the bytes of every message that is kept. Bytes are given up only when the operator says
 * that the object store was put back from a backup: then deliveries that are not finished end as rejected, and their
 * senders learn of it.
 */
export function lostBytesCheck({ db, blobs, queue }: Options): Check {
  return async ({ after = FIRST, repair, restored }): Promise<CheckPage> => {
    const rows = await db.query(SENDS, after, PAGE)
    const missing = await missingAmong(
      blobs,
      rows.map(({ id }) => outboundBlob(id)),
    )
    const lost = rows.filter(({ id }) => missing.has(outboundBlob(id))).map(({ id }) => id)
    const givesUp = repair && restored.includes('objects')
    if (givesUp && lost.length > 0) {
      await queue.reject(lost)
      await db.query(DROPPED, lost)
    }
    return {
      examined: rows.length,
      findings: lost.map((id) => missingBytes(outboundBlob(id), 'the bytes of a sent message are missing', givesUp)),
      ...nextOf(rows),
    }
  }
}

/** Checks that the blob store has the attachments of drafts. What a draft is without one only its owner can decide. */
export function lostFilesCheck({ db, blobs }: Pick<Options, 'db' | 'blobs'>): Check {
  return async ({ after = FIRST }): Promise<CheckPage> => {
    const rows = await db.query(FILES, after, PAGE)
    const missing = await missingAmong(
      blobs,
      rows.map(({ id }) => fileBlob(id)),
    )
    const findings = [...missing].map((subject): Finding => {
      const advice = 'put it back from a backup of the object store; its draft is not sent until the owner removes it'
      return { subject, problem: 'the bytes of an attachment of a draft are missing', state: 'open', advice }
    })
    return { examined: rows.length, findings, ...nextOf(rows) }
  }
}

/** Those of the blobs that a row refers to. */
export async function referencedBlobs(db: Database, names: readonly string[]): Promise<ReadonlySet<string>> {
  const ids = names.map((name) => name.slice(name.indexOf('/') + 1))
  const referenced = new Set((await db.query(REFERENCED, ids)).map(({ id }) => id))
  return new Set(names.filter((_name, at) => referenced.has(ids[at] ?? '')))
}

function nextOf(rows: readonly { readonly id: string }[]): Pick<CheckPage, 'next'> {
  const last = rows.at(-1)
  return last && rows.length === PAGE ? { next: last.id } : {}
}
