import { randomUUID } from 'node:crypto'
import { type Attachment, DISPOSITIONS } from '@restante/contracts/resources'
import { dispositionOf, mediaTypeOf } from '@restante/mime'
import { type Queryable, sql, type Tx } from '@restante/service/database'

/** What a message will say of a file. */
export type FileFacts = Pick<Attachment, 'filename' | 'content_type' | 'content_disposition' | 'content_id'>

/** A file whose bytes are stored, before a draft keeps it. */
export interface StoredFile extends FileFacts {
  readonly id: string
  /** Bytes. */
  readonly size: number
  /** Lower-case hex. */
  readonly sha256: string
}

/** A file that a draft keeps. */
export interface KeptFile {
  readonly id: string
  readonly draft_id: string
  readonly filename: string | null
  readonly content_type: string | null
  readonly content_disposition: string | null
  readonly content_id: string | null
  readonly size: number
  readonly sha256: string
}

/** The blob with the bytes of a file. */
export function fileBlob(id: string): string {
  return `files/${id}`
}

/** No header may contain them. Names of fetched files had them once. */
const LINE_SEPARATORS = /[\u2028\u2029]/g

/**
 * A kept file in the form of a new one, for code that handles both. A missing type or disposition is the default that the
 * message will have (mail 16).
 */
export function storedOf(file: KeptFile): StoredFile & { readonly content_type: string } {
  const { id, size, sha256 } = file
  const filename = file.filename?.replace(LINE_SEPARATORS, '')
  const content_id = file.content_id ?? undefined
  const content_disposition = DISPOSITIONS.find((name) => name === file.content_disposition)
  return {
    id,
    size,
    sha256,
    ...(filename && { filename }),
    content_type: file.content_type ?? mediaTypeOf(filename),
    content_disposition: content_disposition ?? dispositionOf(content_id),
    ...(content_id !== undefined && { content_id }),
  }
}

const ANNOUNCE = sql<never, [ids: readonly string[], organizationId: string, inboxUid: string]>(`
insert into files (id, organization_id, inbox_uid) select unnest($1::uuid[]), $2, $3`)

const KEEP = sql<{ id: string }, [draftId: string, first: number, files: string]>(`
update files
   set draft_id = $1, position = $2::int + given.position, filename = given.filename, content_type = given.content_type,
       content_disposition = given.content_disposition, content_id = given.content_id, size = given.size,
       sha256 = given.sha256
  from (select row_number() over ()::int as position, *
          from jsonb_to_recordset($3::jsonb)
               as one(id uuid, filename text, content_type text, content_disposition text, content_id text, size int,
                      sha256 text)) as given
 where files.id = given.id and files.draft_id is null
returning files.id`)

const OF_DRAFTS = sql<KeptFile, [draftIds: readonly string[]]>(`
select id, draft_id, filename, content_type, content_disposition, content_id, size, sha256
  from files where draft_id = any($1::uuid[]) order by draft_id, position`)

const LINKED = sql<KeptFile, [id: string, draftId: string]>(`
select id, draft_id, filename, content_type, content_disposition, content_id, size, sha256
  from files
 where id = $1 and draft_id = $2 and not exists (select from deleted_scopes where deleted_scopes.id = files.inbox_uid)`)

const LAST_POSITION = sql<{ position: number }, [draftId: string]>(
  'select coalesce(max(position), 0) as position from files where draft_id = $1',
)

const RELEASE = sql<{ id: string }, [draftId: string, ids: readonly string[]]>(`
update files set draft_id = null, touched_at = now() where draft_id = $1 and id = any($2::uuid[]) returning id`)
const RELEASE_ALL = sql<never, [draftIds: readonly string[]]>(
  'update files set draft_id = null, touched_at = now() where draft_id = any($1::uuid[])',
)

/** The rows of files: each is written before the bytes, and a file that no draft keeps is swept after an hour. */
export const files = {
  /** Records files that are about to be stored. @returns their ids */
  async announce(
    db: Queryable,
    { organizationId, inboxUid }: { readonly organizationId: string; readonly inboxUid: string },
    count: number,
  ): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID())
    await db.query(ANNOUNCE, ids, organizationId, inboxUid)
    return ids
  },

  /**
   * Makes a draft keep files, after those that it has, in the given order.
   * @throws Error when one of them was swept: the draft must not be stored without it.
   */
  async keep(tx: Tx, draftId: string, stored: readonly StoredFile[]): Promise<void> {
    if (stored.length === 0) return
    const [last] = await tx.query(LAST_POSITION, draftId)
    const kept = await tx.query(KEEP, draftId, last?.position ?? 0, JSON.stringify(stored))
    if (kept.length < stored.length) throw new Error('A file of the draft was swept before the draft was stored')
  },

  /** The files of drafts, those of one draft in their order. */
  ofDrafts(db: Queryable, draftIds: readonly string[]): Promise<KeptFile[]> {
    return draftIds.length === 0 ? Promise.resolve([]) : db.query(OF_DRAFTS, draftIds)
  },

  /** The file of a draft that a link leads to, unless its inbox is deleted. */
  async linked(
    db: Queryable,
    target: { readonly draft: string; readonly file: string },
  ): Promise<KeptFile | undefined> {
    return (await db.query(LINKED, target.file, target.draft))[0]
  },

  /** Takes files from a draft. @returns the ids of those that it had */
  async release(tx: Tx, draftId: string, ids: readonly string[]): Promise<string[]> {
    return (await tx.query(RELEASE, draftId, ids)).map(({ id }) => id)
  },

  /** Takes all files from drafts that are deleted. */
  async releaseAll(tx: Tx, draftIds: readonly string[]): Promise<void> {
    await tx.query(RELEASE_ALL, draftIds)
  },
}
