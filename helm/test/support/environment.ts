import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { type Manifest, one, parseManifests, root } from './rendering.ts'
import { containerOf } from './workloads.ts'

const run = promisify(execFile)

const secret = z.looseObject({ stringData: z.record(z.string(), z.string()) })
const configMap = z.looseObject({ data: z.record(z.string(), z.string()) })

/** The Secrets that the operator's command prints, by name. */
export async function generatedSecrets(...words: string[]): Promise<Map<string, Record<string, string>>> {
  const program = path.join(root, 'services/gateway/src/admin/main.ts')
  const engines = words.includes('--database-url')
    ? []
    : ['--database-url', 'postgres://database/{service}', '--redis-url', 'redis://redis']
  const { stdout } = await run(process.execPath, [program, 'secrets', ...engines, ...words])
  return new Map(parseManifests(stdout).map((it) => [it.metadata.name, secret.parse(it).stringData]))
}

/**
 * The environment of the container of a Deployment or Job, as the kubelet composes it.
 * @throws Error when it refers to an object that does not exist.
 */
export function environmentOf(
  object: Manifest,
  manifests: readonly Manifest[],
  secrets: ReadonlyMap<string, Record<string, string>>,
): Record<string, string> {
  const { envFrom, env } = containerOf(object)
  const environment: Record<string, string> = {}
  for (const { configMapRef, secretRef } of envFrom) {
    if (configMapRef) Object.assign(environment, configMap.parse(one(manifests, 'ConfigMap', configMapRef.name)).data)
    if (secretRef) Object.assign(environment, secretOf(secretRef.name))
  }
  for (const { name, value, valueFrom } of env) {
    const read = valueFrom && secretOf(valueFrom.secretKeyRef.name)[valueFrom.secretKeyRef.key]
    if (valueFrom && read === undefined && !valueFrom.secretKeyRef.optional)
      throw new Error(`${object.metadata.name}: the Secret ${valueFrom.secretKeyRef.name} lacks a key`)
    const found = value ?? read
    if (found !== undefined) environment[name] = found
  }
  return environment

  function secretOf(name: string): Record<string, string> {
    const found = secrets.get(name)
    if (found === undefined)
      throw new Error(`${object.metadata.name} refers to the Secret ${name}, which does not exist`)
    return found
  }
}
