import { chmod, mkdir, open, stat } from 'node:fs/promises'
import path from 'node:path'
import { systemErrorCode } from './errors.ts'

/** Number of directories remembered as durable; forgetting one costs a sync. */
const REMEMBERED = 50_000

/** Accessible to their owner only. */
const DIRECTORY_MODE = 0o700

/** Creates directories so that they are on the disk, not only in its cache, before something is put into them. */
export class DurableDirectories {
  readonly #root: string
  readonly #known = new Set<string>()

  constructor(root: string) {
    this.#root = root
  }

  /** Resolves when `directory` and its ancestors up to the root exist durably. */
  async ensure(directory: string): Promise<void> {
    if (this.#known.has(directory)) return
    if (directory === this.#root) {
      await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
    } else {
      const parent = path.dirname(directory)
      await this.ensure(parent)
      await mkdir(directory, { mode: DIRECTORY_MODE }).catch(unlessThere)
      // Also when another process made it: that process may die before its own sync.
      await syncDirectory(parent)
    }
    if (this.#known.size >= REMEMBERED) this.#known.clear()
    this.#known.add(directory)
  }

  /** `directory` may have been deleted, and with it anything below or above it. */
  forget(directory: string): void {
    for (const known of this.#known)
      if (isWithin(known, directory) || isWithin(directory, known)) this.#known.delete(known)
  }
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer + path.sep)
}

function unlessThere(error: unknown): void {
  if (systemErrorCode(error) !== 'EEXIST') throw error
}

/**
 * Removes all permissions but the owner's from a directory, and so from everything below it. A directory of another
 * owner (a volume with a group of its own) is left as it is.
 */
export async function closeToOthers(directory: string): Promise<void> {
  const { mode } = await stat(directory)
  if ((mode & 0o077) === 0) return
  await chmod(directory, mode & 0o700).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'EPERM') throw error
  })
}

/** Writes the entries of a directory to the disk: without this a crash may undo a create or rename. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
