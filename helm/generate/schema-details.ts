/** A schema of values: a part of JSON Schema (draft 7), which is what Helm understands. */
export type Schema = boolean | { readonly [key: string]: unknown }

const text = { type: 'string' } as const
const name = { type: 'string', maxLength: 253, pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$' } as const
const host = {
  type: 'string',
  pattern: '^(\\*\\.)?([a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?\\.)+[a-zA-Z0-9][-a-zA-Z0-9]*$',
}
const port = { type: 'integer', minimum: 1, maximum: 65_535 } as const
const texts = { type: 'array', items: text } as const
const words = { type: 'object', additionalProperties: text } as const
/** Objects of Kubernetes' API, which the API server validates. */
const objects = { type: 'array', items: { type: 'object' } } as const
const anything = { type: 'object' } as const

/** Values whose type does not follow from their defaults, by the end of their path. The first match counts. */
const DETAILS: readonly (readonly [RegExp, Schema])[] = [
  [/^image\.digests$/, { type: 'object', additionalProperties: { type: 'string', pattern: '^sha256:[a-f0-9]{64}$' } }],
  [/^image\.pullPolicy$/, { enum: ['Always', 'IfNotPresent', 'Never'] }],
  [/^commonLabels$|\.(podLabels|labels|nodeSelector)$/, words],
  [/[aA]nnotations$/, words],
  [/\.service\.type$/, { enum: ['LoadBalancer', 'NodePort', 'ClusterIP'] }],
  [/\.externalTrafficPolicy$/, { enum: ['Local', 'Cluster'] }],
  [/\.nodePort$/, { type: 'integer', minimum: 0, maximum: 65_535 }],
  [/\.ports$/, { type: 'array', items: port, minItems: 1 }],
  [/\.service\.port$/, port],
  [/\.(hosts|hostnames|dnsNames)$/, { type: 'array', items: host, uniqueItems: true }],
  [/\.(loadBalancerSourceRanges|disabled)$/, texts],
  [/[sS]ecretName$|existingClaim$|^fullnameOverride$|^strimzi\.(cluster|namespace)$/, name],
  [/^certificates\.issuerRef\.kind$/, text],
  [/^blobs\.s3\.endpoint$/, { type: 'string', pattern: '^(https?://[^\\s]+)?$' }],
  [/^gatewayApi\.requestTimeout$/, { type: 'string', pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$' }],
  [/\.interval$/, { type: 'string', pattern: '^[0-9]+(ms|s|m|h)$' }],
  [/\.averageValue$/, { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?[mkMG]?$' }],
  [/\.autoscaling\.cpu$/, { type: 'integer', minimum: 1, maximum: 1_000 }],
  [/\.(replicas|minReplicas|maxReplicas)$/, { type: 'integer', minimum: 0 }],
  [
    /\.maxUnavailable$/,
    {
      anyOf: [
        { type: 'integer', minimum: 0 },
        { type: 'string', pattern: '^[0-9]+%$' },
      ],
    },
  ],
  [/\.preStopSeconds$|\.activeDeadlineSeconds$/, { type: 'integer', minimum: 0 }],
  [/\.(resources|affinity|behavior)$/, anything],
  [
    /^networkPolicy\.internet$/,
    {
      type: 'array',
      items: {
        type: 'object',
        properties: { cidr: text, except: texts },
        required: ['cidr'],
        additionalProperties: false,
      },
    },
  ],
]

/** The schema of one value: written here, or that of the type of its default. */
export function schemaOfValue(path: string, fallback: unknown): Schema {
  const [, detail] = DETAILS.find(([pattern]) => pattern.test(path)) ?? []
  if (detail !== undefined) return detail
  switch (typeof fallback) {
    case 'boolean':
      return { type: 'boolean' }
    case 'number':
      return { type: 'integer' }
    case 'string':
      return text
    default:
      if (Array.isArray(fallback)) return objects
      throw new Error(`values.schema.json does not know the type of ${path}: add it to schema-details.ts`)
  }
}
