import { z } from 'zod'
import type { Manifest } from './rendering.ts'

const variable = z.looseObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .object({ secretKeyRef: z.object({ name: z.string(), key: z.string(), optional: z.boolean().default(false) }) })
    .optional(),
})
const reference = z.object({ name: z.string() })

const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()).optional(),
  env: z.array(variable).default([]),
  envFrom: z.array(z.object({ configMapRef: reference.optional(), secretRef: reference.optional() })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })).default([]),
  securityContext: z.unknown(),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
})

const template = z.object({
  metadata: z.object({
    labels: z.record(z.string(), z.string()),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.looseObject({
    automountServiceAccountToken: z.boolean(),
    enableServiceLinks: z.boolean(),
    securityContext: z.unknown(),
    serviceAccountName: z.string().optional(),
    terminationGracePeriodSeconds: z.int().optional(),
    containers: z.array(container).length(1),
    volumes: z.array(z.looseObject({ name: z.string() })).default([]),
  }),
})

const workload = z.looseObject({ spec: z.looseObject({ template }) })

/** The pods that a Deployment or a Job makes. */
export type PodTemplate = z.output<typeof template>

/** @throws ZodError when the object makes no pods. */
export function podsOf(object: Manifest): PodTemplate {
  return workload.parse(object).spec.template
}

/** The container of such a pod: there is one. */
export function containerOf(object: Manifest): z.output<typeof container> {
  const [only] = podsOf(object).spec.containers
  if (only === undefined) throw new Error(`${object.metadata.name} has no container`)
  return only
}

/** Every object that makes pods. */
export function workloads(manifests: readonly Manifest[]): Manifest[] {
  return manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
}
