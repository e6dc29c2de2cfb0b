import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { z } from 'zod'
import { UsageError } from '../operator/usage-error.ts'
import type { SecretValues } from './values.ts'

/** Where the Secrets are. */
export interface Place {
  /** What the names of Secrets begin with: the name of the release. */
  readonly release: string
  readonly namespace: string | undefined
}

/** The Secrets as YAML for `kubectl`, one for each service. */
export function printSecrets(values: SecretValues, { release, namespace }: Place): string {
  return [...values]
    .map(([service, own]) =>
      [
        '---',
        'apiVersion: v1',
        'kind: Secret',
        'type: Opaque',
        'metadata:',
        `  name: ${release}-${service}`,
        ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
        '  labels:',
        '    app.kubernetes.io/name: restante',
        `    app.kubernetes.io/instance: ${release}`,
        `    app.kubernetes.io/component: ${service}`,
        '    app.kubernetes.io/part-of: restante',
        'stringData:',
        // A JSON string is a quoted scalar of YAML.
        ...[...own].map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
      ].join('\n'),
    )
    .join('\n')
}

const list = z.object({
  items: z.array(
    z.object({ metadata: z.object({ name: z.string() }), data: z.record(z.string(), z.string()).optional() }),
  ),
})

/**
 * The values of existing Secrets: the output of `kubectl get secrets -o json`. Others than those of the services are ignored.
 * @throws UsageError when the text is something else.
 */
export function readSecrets(text: string, { release }: Pick<Place, 'release'>): SecretValues {
  const parsed = list.safeParse(parseJson(text))
  if (!parsed.success) throw new UsageError('The existing Secrets must be the output of: kubectl get secrets -o json')
  return new Map(
    SERVICES.flatMap((service): [ServiceName, ReadonlyMap<string, string>][] => {
      const found = parsed.data.items.find(({ metadata }) => metadata.name === `${release}-${service}`)
      if (found === undefined) return []
      const values = Object.entries(found.data ?? {}).map(([name, value]): [string, string] => [
        name,
        Buffer.from(value, 'base64').toString(),
      ])
      return [[service, new Map(values)]]
    }),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
