import { chmod, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from './settings.ts'

/**
 * What the stack stores: mail, keys, logs with keys. PostgreSQL restricts its own directory, and may run as another
 * user.
 */
const KEPT = ['blobs', 'captured-mail', 'kafka', 'logs', 'redis', 'run']

const isRoot = process.getuid?.() === 0

/**
 * Makes everything that this process and its children write accessible to their user only, and restricts existing
 * files: other users of the machine must not read mail, codes and keys.
 */
export async function keepToOwner({ state }: Settings): Promise<void> {
  process.umask(0o077)
  await mkdir(state, { recursive: true })
  // When started by root, PostgreSQL runs as another user, which must be able to traverse to its directory.
  await chmod(state, isRoot ? 0o711 : 0o700)
  const there = new Set(await readdir(state))
  for (const name of KEPT) if (there.has(name)) await chmod(join(state, name), 0o700)
}
