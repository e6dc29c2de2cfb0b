import { join } from 'node:path'
import { migrationsOf } from '@restante/service/database'
import { unjustified } from './findings.ts'
import type { Promises } from './promises.ts'
import type { Release } from './releases.ts'
import { changesOf } from './schema-changes.ts'

/**
 * Migrations of a package that the releases so far do not have, and what is wrong with them: each must leave a schema on
 * which the newest of these releases works. Released migrations must be there, unchanged.
 * @param name the package, as in `libs/jobs`.
 */
export async function wrongMigrations(root: string, name: string, releases: readonly Release[]): Promise<string[]> {
  const released = releases.at(-1)?.migrations[name] ?? {}
  const own = (await migrationsOf(join(root, name))).filter(({ library }) => library === undefined)
  const present = new Map(own.map((migration) => [migration.name, migration.checksum]))
  const newest = Object.keys(released).sort().at(-1) ?? ''
  const wrong = Object.entries(released)
    .filter(([migration, checksum]) => present.get(migration) !== checksum)
    .map(([migration]) => `${name}: ${migration} is released, and was edited or removed`)
  const created = new Set<string>()
  for (const migration of own.filter((each) => !Object.hasOwn(released, each.name))) {
    const problems = unjustified(migration.text, await changesOf(migration.text, created), releases)
    // The first migration of a package that no release has makes a database of its own.
    if (newest !== '') wrong.push(...problems.map((problem) => `${name}: ${migration.name} ${problem}`))
    if (migration.name < newest)
      wrong.push(`${name}: ${migration.name} is older than ${newest}, which is released: give it a later time`)
  }
  return wrong
}

/** Promises of the last release that the present sources break, as sentences. */
export function brokenPromises(before: Promises, now: Promises): string[] {
  return [
    ...Object.entries(before.topics).flatMap(([name, topic]) => {
      const found = now.topics[name]
      if (found === undefined) return [`the topic ${name} is gone`]
      return [
        ...(found.partitions === topic.partitions ? [] : [`the topic ${name} has another number of partitions`]),
        ...missing(topic.events, found.events).map((type) => `the topic ${name} has no event ${type} any more`),
      ]
    }),
    ...missing(before.internal, now.internal).map((id) => `the internal operation ${id} is gone`),
  ]
}

/** Variables without which a service starts in the last release and not in the present one: `<service>: <variable>`. */
export function newlyRequired(before: Promises, now: Promises): string[] {
  return Object.entries(now.required).flatMap(([service, names]) => {
    const known = before.required[service]
    // A service that no release has.
    if (known === undefined) return []
    return missing(names, known).map((name) => `${service}: ${name}`)
  })
}

function missing(wanted: readonly string[], present: readonly string[]): string[] {
  return wanted.filter((name) => !present.includes(name))
}
