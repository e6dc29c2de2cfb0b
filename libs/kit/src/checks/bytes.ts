import type { BlobStore } from '@restante/blobs'
import type { Check, CheckPage, Finding } from '@restante/contracts/internal'
import { invalid } from '@restante/service/errors'

/** Bytes are written before their row: younger ones may still get it. */
const YOUNG_MS = 60 * 60_000
const PAGE = 500
const ASKED_TOGETHER = 20

interface OrphansOptions {
  readonly blobs: BlobStore
  /** The prefixes that the service writes, each ending with `/`. */
  readonly prefixes: readonly string[]
  /** Those of the names that a row refers to. */
  readonly known: (names: readonly string[]) => Promise<ReadonlySet<string>>
}

/**
 * Looks for bytes that no row refers to. They are what is left of rows that were lost with a database, perhaps the only
 * trace of a mail, so a repair deletes them only when it is told to.
 */
export function orphansCheck({ blobs, prefixes, known }: OrphansOptions): Check {
  return async ({ after, repair, delete_orphans: deletes }): Promise<CheckPage> => {
    const { index, reached } = parseAfter(after)
    const prefix = prefixes[index]
    if (prefix === undefined) throw invalid(['after'], 'Not a position of this check')
    const page = await blobs.list(prefix, reached, PAGE)
    const names = page.blobs
      .filter(({ modifiedAt }) => modifiedAt.getTime() < Date.now() - YOUNG_MS)
      .map(({ name }) => name)
    const used = names.length > 0 ? await known(names) : new Set()
    const orphans = names.filter((name) => !used.has(name))
    if (repair && deletes) for (const name of orphans) await blobs.delete(name)
    const next = page.next === undefined ? `${index + 1}:` : `${index}:${page.next}`
    return {
      examined: page.blobs.length,
      findings: orphans.map((subject) => orphanFinding(subject, repair && deletes)),
      ...((page.next !== undefined || index + 1 < prefixes.length) && { next }),
    }
  }
}

function orphanFinding(subject: string, isDeleted: boolean): Finding {
  const problem = 'no row refers to these bytes'
  if (isDeleted) return { subject, problem, state: 'repaired' }
  return { subject, problem, state: 'open', advice: '--repair --delete-orphans deletes them, which cannot be undone' }
}

function parseAfter(after = '0:'): { index: number; reached: string | undefined } {
  const [, index = '', reached = ''] = /^(\d):(.*)$/.exec(after) ?? []
  return { index: index === '' ? -1 : Number(index), reached: reached === '' ? undefined : reached }
}

/** Those of the blobs that do not exist. */
export async function missingAmong(blobs: BlobStore, names: readonly string[]): Promise<ReadonlySet<string>> {
  const missing = new Set<string>()
  for (let from = 0; from < names.length; from += ASKED_TOGETHER) {
    const batch = names.slice(from, from + ASKED_TOGETHER)
    const found = await Promise.all(batch.map((name) => blobs.exists(name)))
    batch.forEach((name, at) => {
      if (found[at] === false) missing.add(name)
    })
  }
  return missing
}

/** What is said of bytes that are missing, and what can be done about them. */
export function missingBytes(subject: string, problem: string, isGivenUp: boolean): Finding {
  if (isGivenUp) return { subject, problem, state: 'repaired' }
  const advice = 'put them back from a backup of the object store, or give them up: --repair --restored objects'
  return { subject, problem, state: 'open', advice }
}
