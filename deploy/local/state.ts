import { chmod, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from './settings.ts'

/** What the stack keeps: mail, keys, logs with keys. PostgreSQL closes its own directory, and may be another user. */
const KEPT = ['blobs', 'captured-mail', 'kafka', 'logs', 'redis', 'run']

const isRoot = process.getuid?.() === 0

/**
 * Makes everything that this process and its children write readable for their user alone, and closes what is there
 * already: other users of the machine must not read mail, codes and keys.
 */
export async function keepToOwner({ state }: Settings): Promise<void> {
  process.umask(0o077)
  await mkdir(state, { recursive: true })
  // Started by root, PostgreSQL runs as a user of its own, which has to pass through to its directory.
  await chmod(state, isRoot ? 0o711 : 0o700)
  const there = new Set(await readdir(state))
  for (const name of KEPT) if (there.has(name)) await chmod(join(state, name), 0o700)
}
