import { createHash, randomUUID } from 'node:crypto'
import { access, constants, link, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { Digest } from './digest.ts'
import { closeToOthers, DurableDirectories, syncDirectory } from './durable-directories.ts'
import { BlobNotFoundError, systemErrorCode } from './errors.ts'
import { parseName, parsePrefix } from './names.ts'
import type { BlobPage, BlobRange, BlobStore, ListedBlob, PutOptions, StoredBlob } from './store.ts'

/** A put writes continuously, so a temporary file unchanged for this long belongs to a process that died. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000

/** Mail is readable by this user only, whatever the umask: services that share a directory run as the same user. */
const FILE_MODE = 0o600

/** Names start with a letter or digit (names.ts), so no blob can be confused with entries that start with these. */
const TEMPORARY = '.incoming'
const FAN_OUT = '~'

/** Each attempt but the last lost a race with the deletion of its directory. */
const PUBLISH_ATTEMPTS = 20

/**
 * Blobs as files below one directory, which several processes of one host may share. `a/b/<uuid>` is the file
 * `a/b/~5f/<uuid>`: the fan-out by the hash of the last segment keeps directories small, and a prefix stays a
 * directory.
 */
export class DirectoryBlobStore implements BlobStore {
  readonly name = 'blobs'
  readonly #root: string
  readonly #incoming: string
  readonly #directories: DurableDirectories

  constructor(root: string) {
    this.#root = path.resolve(root)
    this.#incoming = path.join(this.#root, TEMPORARY)
    this.#directories = new DurableDirectories(this.#root)
  }

  /** Creates the directory, restricts its permissions to the owner, and sweeps what crashed puts have left. */
  async start(): Promise<void> {
    await this.#directories.ensure(this.#incoming)
    await closeToOthers(this.#root)
    const files = await readdir(this.#incoming)
    await Promise.all(files.map((file) => this.#sweep(path.join(this.#incoming, file))))
  }

  async #sweep(file: string): Promise<void> {
    const modified = await stat(file).then((found) => found.mtimeMs, ifMissing(Date.now()))
    if (Date.now() - modified > ABANDONED_AFTER_MS) await rm(file, { force: true })
  }

  async ready(): Promise<void> {
    await access(this.#incoming, constants.R_OK | constants.W_OK)
  }

  async stop(): Promise<void> {}

  async put(name: string, content: Readable | Uint8Array, _options?: PutOptions): Promise<StoredBlob> {
    const file = this.#fileOf(name)
    return this.#throughTemporary(file, async (temporary) => {
      const digest = new Digest()
      const handle = await open(temporary, 'wx', FILE_MODE)
      try {
        await writeFile(handle, digest.of(content))
        // The name must not become durable before the bytes.
        await handle.sync()
      } finally {
        await handle.close()
      }
      return digest.result()
    })
  }

  async copy(from: string, to: string): Promise<void> {
    const source = this.#fileOf(from)
    const linked = await this.#throughTemporary(this.#fileOf(to), async (temporary) => {
      await link(source, temporary).catch(ifMissingThrow(() => new BlobNotFoundError(from)))
      return temporary
    })
    // Still there after a rename onto a hard link to the same file, which POSIX makes a no-op.
    await rm(linked, { force: true })
  }

  /** Lets `write` create a temporary file, then renames it atomically and durably. */
  async #throughTemporary<T>(file: string, write: (temporary: string) => Promise<T>): Promise<T> {
    await this.#directories.ensure(this.#incoming)
    const temporary = path.join(this.#incoming, randomUUID())
    try {
      const result = await write(temporary)
      await this.#publish(temporary, file)
      return result
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  async #publish(temporary: string, file: string): Promise<void> {
    const directory = path.dirname(file)
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#directories.ensure(directory)
        await rename(temporary, file)
        return await syncDirectory(directory)
      } catch (error) {
        // A concurrent deletePrefix removed the directory after it was ensured.
        if (!isMissing(error) || attempt === PUBLISH_ATTEMPTS) throw error
        this.#directories.forget(directory)
      }
    }
  }

  async get(name: string, range: BlobRange = {}): Promise<Readable> {
    const start = Math.max(0, range.start ?? 0)
    const end = range.end ?? Number.POSITIVE_INFINITY
    const handle = await open(this.#fileOf(name)).catch(ifMissingThrow(() => new BlobNotFoundError(name)))
    if (end > start) return handle.createReadStream({ start, end: end - 1 })
    await handle.close()
    return Readable.from([])
  }

  async buffer(name: string): Promise<Buffer> {
    return readFile(this.#fileOf(name)).catch(ifMissingThrow(() => new BlobNotFoundError(name)))
  }

  async delete(name: string): Promise<void> {
    const file = this.#fileOf(name)
    await rm(file, { force: true })
    await syncDirectory(path.dirname(file)).catch(ifMissing(undefined))
  }

  async deletePrefix(prefix: string): Promise<void> {
    const directory = path.join(this.#root, ...parsePrefix(prefix))
    this.#directories.forget(directory)
    // `maxRetries` covers a put that adds a file between the listing and the removal of a directory.
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
    await syncDirectory(path.dirname(directory)).catch(ifMissing(undefined))
  }

  async size(name: string): Promise<number | undefined> {
    return stat(this.#fileOf(name)).then((found) => found.size, ifMissing(undefined))
  }

  async exists(name: string): Promise<boolean> {
    return (await this.size(name)) !== undefined
  }

  async list(prefix: string, after: string | undefined, limit: number): Promise<BlobPage> {
    const blobs: ListedBlob[] = []
    const last = after === undefined ? [] : after.split('/')
    let reached: readonly string[] = []
    for await (const file of this.#files([...parsePrefix(prefix)], last)) {
      if (blobs.length === limit) return { blobs, next: reached.join('/') }
      reached = file.path
      // Deleted since the folder was read: it is left out.
      const modifiedAt = await stat(file.file).then(({ mtime }) => mtime, ifMissing(undefined))
      if (modifiedAt) blobs.push({ name: nameOf([...parsePrefix(prefix), ...reached]), modifiedAt })
    }
    return { blobs }
  }

  /** The files below a folder, by their paths, after one of them; the entries of one folder are in memory at a time. */
  async *#files(
    folders: readonly string[],
    after: readonly string[],
    below: readonly string[] = [],
  ): AsyncGenerator<{ readonly file: string; readonly path: readonly string[] }> {
    const folder = path.join(this.#root, ...folders, ...below)
    const entries = await readdir(folder, { withFileTypes: true }).catch(ifMissing([]))
    const [first = '', ...rest] = after
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name < first) continue
      const isFirst = entry.name === first
      const own = [...below, entry.name]
      if (entry.isDirectory()) yield* this.#files(folders, isFirst ? rest : [], own)
      else if (!isFirst) yield { file: path.join(folder, entry.name), path: own }
    }
  }

  #fileOf(name: string): string {
    const { folders, leaf } = parseName(name)
    const bucket = FAN_OUT + createHash('sha1').update(leaf).digest('hex').slice(0, 2)
    return path.join(this.#root, ...folders, bucket, leaf)
  }
}

/** The name of a blob, from the folders and the file below the root. */
function nameOf(segments: readonly string[]): string {
  return segments.filter((segment) => !segment.startsWith(FAN_OUT)).join('/')
}

function isMissing(error: unknown): boolean {
  return systemErrorCode(error) === 'ENOENT'
}

function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isMissing(error)) return value
    throw error
  }
}

function ifMissingThrow(make: () => Error): (error: unknown) => never {
  return (error) => {
    throw isMissing(error) ? make() : error
  }
}
