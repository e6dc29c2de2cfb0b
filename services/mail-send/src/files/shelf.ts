import type { BlobStore } from '@restante/blobs'
import { type Database, sql } from '@restante/service/database'
import { type FileFacts, fileBlob, files, type StoredFile } from './store.ts'

const FORGET = sql<never, [ids: readonly string[]]>('delete from files where id = any($1::uuid[]) and draft_id is null')

/** Whose files they are: the organization and the inbox that a deletion names. */
export interface FileOwner {
  readonly organizationId: string
  readonly inboxUid: string
}

/** The bytes of files that are attached to drafts, or are on their way from a message of the mailbox into a new one. */
export class FileShelf {
  readonly #db: Database
  readonly #blobs: BlobStore

  constructor({ db, blobs }: { readonly db: Database; readonly blobs: BlobStore }) {
    this.#db = db
    this.#blobs = blobs
  }

  /** Records files that another service stores under `fileBlob`. @returns their ids */
  announce(owner: FileOwner, count: number): Promise<string[]> {
    return files.announce(this.#db, owner, count)
  }

  /** Stores the bytes of a file. */
  async store(owner: FileOwner, content: Buffer, facts: FileFacts): Promise<StoredFile> {
    const [id = ''] = await this.announce(owner, 1)
    return { ...facts, id, ...(await this.#blobs.put(fileBlob(id), content)) }
  }

  /** The bytes of a file, whose size is bounded by the limits of a message. @throws BlobNotFoundError */
  read(id: string): Promise<Buffer> {
    return this.#blobs.buffer(fileBlob(id))
  }

  /** Copies a file that a draft keeps. @throws BlobNotFoundError */
  async copy(from: string, to: string): Promise<void> {
    await this.#blobs.copy(fileBlob(from), fileBlob(to))
  }

  /** Removes files that no draft keeps. Those that cannot be removed now are swept. */
  async drop(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    try {
      for (const id of ids) await this.#blobs.delete(fileBlob(id))
      await this.#db.query(FORGET, ids)
    } catch {}
  }
}
