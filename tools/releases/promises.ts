import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { topics } from '@restante/contracts/events'
import { internalOperations } from '@restante/contracts/internal'
import { Configuration, describeVariables } from '@restante/kit'
import { topicSettings } from '@restante/messaging'
import { migrationsOf } from '@restante/service/database'
import { z } from 'zod'

/** What a release has that the releases beside it rely on while both run. */
export const promises = z.object({
  /** Checksums of the migrations of each package, by name. */
  migrations: z.record(z.string(), z.record(z.string(), z.string())),
  topics: z.record(
    z.string(),
    z.object({
      partitions: z.int(),
      config: z.record(z.string(), z.string()),
      /** Types of its events. */
      events: z.array(z.string()),
    }),
  ),
  /** Ids of the operations between services. */
  internal: z.array(z.string()),
  /** The variables without which a service does not start. */
  required: z.record(z.string(), z.array(z.string())),
})
export type Promises = z.infer<typeof promises>

/** Replication is a choice of the installation, and no promise. */
const ONE_COPY = { replication: 1, minInsyncReplicas: 1 }

/** @param root the folder of the repository; its contracts are those that this module imports. */
export async function promisesOf(root: string): Promise<Promises> {
  const [libraries, services] = await Promise.all([packagesIn(root, 'libs'), packagesIn(root, 'services')])
  const folders = [...libraries, ...services]
  return {
    migrations: withoutEmpty(await byName(folders, (folder) => checksumsOf(join(root, folder)))),
    topics: Object.fromEntries(Object.values(topics).map((topic) => [topic.name, promisedBy(topic)])),
    internal: Object.keys(internalOperations).sort(),
    required: await byName(services, (folder) => requiredBy(join(root, folder))),
  }
}

async function packagesIn(root: string, folder: string): Promise<string[]> {
  const names = (await readdir(join(root, folder))).map((name) => `${folder}/${name}`).sort()
  return names.filter((name) => existsSync(join(root, name, 'package.json')))
}

async function byName<T>(names: readonly string[], make: (name: string) => Promise<T>): Promise<Record<string, T>> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await make(name)] as const)))
}

function withoutEmpty(all: Record<string, Record<string, string>>): Record<string, Record<string, string>> {
  return Object.fromEntries(Object.entries(all).filter(([, own]) => Object.keys(own).length > 0))
}

async function checksumsOf(folder: string): Promise<Record<string, string>> {
  const own = (await migrationsOf(folder)).filter(({ library }) => library === undefined)
  return Object.fromEntries(own.map(({ name, checksum }) => [name, checksum]))
}

function promisedBy(topic: (typeof topics)[keyof typeof topics]): Promises['topics'][string] {
  const { partitions, config } = topicSettings(topic, ONE_COPY)
  const { 'min.insync.replicas': _ofInstallation, ...promised } = config
  return { partitions, config: promised, events: Object.keys(topic.events).sort() }
}

async function requiredBy(folder: string): Promise<string[]> {
  const module: unknown = await import(join(folder, 'src/config.ts'))
  const { configuration } = z.object({ configuration: z.instanceof(Configuration) }).parse(module)
  const required = describeVariables(configuration).filter((variable) => variable.required)
  return required.map(({ name }) => name).sort()
}
