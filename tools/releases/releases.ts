import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { promises } from './promises.ts'

const release = promises.extend({ version: z.string(), commit: z.string() })
export type Release = z.infer<typeof release>

/** The recorded releases, oldest first. */
export async function recordedReleases(): Promise<Release[]> {
  const files = (await readdir(import.meta.dirname)).filter((file) => file.endsWith('.json'))
  const found = await Promise.all(
    files.map(async (file) => release.parse(JSON.parse(await readFile(join(import.meta.dirname, file), 'utf8')))),
  )
  return found.toSorted((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }))
}

/** The newest recorded release: the one that an installation upgrades from, and goes back to. */
export async function lastRelease(): Promise<Release> {
  const last = (await recordedReleases()).at(-1)
  if (last === undefined) throw new Error('no release is recorded in tools/releases')
  return last
}
