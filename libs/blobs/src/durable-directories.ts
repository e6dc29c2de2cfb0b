import { chmod, mkdir, open, stat } from 'node:fs/promises'
import path from 'node:path'
import { systemErrorCode } from './errors.ts'

/** Directories known to survive the loss of power are remembered up to this many; forgetting costs one sync each. */
const REMEMBERED = 50_000

/** For their owner alone. */
const DIRECTORY_MODE = 0o700

/** Makes directories so that they are on the disk, not only in its cache, before something is put into them. */
export class DurableDirectories {
  readonly #root: string
  readonly #known = new Set<string>()

  constructor(root: string) {
    this.#root = root
  }

  /** Resolves when `directory` and all above it up to the root exist durably. */
  async ensure(directory: string): Promise<void> {
    if (this.#known.has(directory)) return
    if (directory === this.#root) {
      await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
    } else {
      const parent = path.dirname(directory)
      await this.ensure(parent)
      await mkdir(directory, { mode: DIRECTORY_MODE }).catch(unlessThere)
      // Also when another process made it: that one may die before its own sync.
      await syncDirectory(parent)
    }
    if (this.#known.size >= REMEMBERED) this.#known.clear()
    this.#known.add(directory)
  }

  /** `directory` may be gone, and whatever is below or above it. */
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
 * Takes the rights of everybody but the owner from a directory, and so from all below it. A directory of another owner (a
 * volume with a group of its own) stays as it is.
 */
export async function closeToOthers(directory: string): Promise<void> {
  const { mode } = await stat(directory)
  if ((mode & 0o077) === 0) return
  await chmod(directory, mode & 0o700).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'EPERM') throw error
  })
}

/** Puts the entries of a directory on the disk: without this a crash may undo a create or rename. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
