import { lastLines } from '@restante/local/processes.ts'
import { waitFor } from '@restante/testkit'
import { z } from 'zod'
import { output } from '../../support/programs/programs.ts'

/** Name of the release and of its namespace. */
export const RELEASE = 'restante'

/** Limit for pods to be ready. Images are on the node; a loaded machine needs minutes to start sixteen services. */
export const ROLL_OUT = '600s'

/** Runs kubectl in the namespace of the release. @throws Error with its output when it fails. */
export function kubectl(...args: string[]): Promise<string> {
  return output('kubectl', ['--namespace', RELEASE, ...args])
}

/** Runs Helm in the namespace of the release. @throws Error with its output when it fails. */
export function helm(...args: string[]): Promise<string> {
  return output('helm', ['--namespace', RELEASE, ...args])
}

/** A Service, as a client outside of the cluster or one inside reaches it. */
export interface Address {
  readonly host: string
  readonly port: number
}

const service = z.object({
  spec: z.object({ clusterIP: z.string(), ports: z.array(z.object({ name: z.string(), port: z.int() })) }),
  status: z.object({ loadBalancer: z.object({ ingress: z.array(z.object({ ip: z.string() })).optional() }) }),
})

/** Where a port of a Service is reached: at its load balancer if it has one, otherwise at its cluster address. */
export async function addressOf(name: string, port: string): Promise<Address> {
  const { spec, status } = service.parse(JSON.parse(await kubectl('get', 'service', name, '--output', 'json')))
  const found = spec.ports.find((each) => each.name === port)
  if (!found) throw new Error(`the Service ${name} has no port '${port}'`)
  return { host: status.loadBalancer.ingress?.[0]?.ip ?? spec.clusterIP, port: found.port }
}

const deployments = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()) }),
      spec: z.object({ replicas: z.int() }),
    }),
  ),
})

/** A Deployment of the release. */
export interface Component {
  /** `app.kubernetes.io/component`. */
  readonly name: string
  readonly deployment: string
  readonly replicas: number
}

const OF_RELEASE = `app.kubernetes.io/instance=${RELEASE}`

export async function components(): Promise<Component[]> {
  const { items } = deployments.parse(
    JSON.parse(await kubectl('get', 'deployments', '--selector', OF_RELEASE, '--output', 'json')),
  )
  return items.map(({ metadata, spec }) => ({
    name: metadata.labels['app.kubernetes.io/component'] ?? '',
    deployment: metadata.name,
    replicas: spec.replicas,
  }))
}

const pods = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), deletionTimestamp: z.string().optional() }),
      spec: z.object({ containers: z.array(z.object({ image: z.string() })) }),
      status: z.object({
        containerStatuses: z
          .array(z.object({ lastState: z.object({ terminated: z.object({ exitCode: z.int() }).optional() }) }))
          .default([]),
      }),
    }),
  ),
})

/** The pods of a component, or of the whole release, that are not being deleted. */
export async function podsOf(component?: string) {
  const selector = component === undefined ? OF_RELEASE : `${OF_RELEASE},app.kubernetes.io/component=${component}`
  const { items } = pods.parse(JSON.parse(await kubectl('get', 'pods', '--selector', selector, '--output', 'json')))
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata, spec, status }) => ({
      name: metadata.name,
      image: spec.containers[0]?.image ?? '',
      crashed: status.containerStatuses.some(({ lastState }) => (lastState.terminated?.exitCode ?? 0) !== 0),
    }))
}

/** Resolves when all pods of a component are ready. */
export async function rolledOut({ deployment }: Component): Promise<void> {
  await kubectl('rollout', 'status', `deployment/${deployment}`, `--timeout=${ROLL_OUT}`)
}

/** Changes the number of pods. Resolves when there are exactly so many, all ready. */
export async function scale(component: Component, replicas: number): Promise<void> {
  await kubectl('scale', `deployment/${component.deployment}`, `--replicas=${replicas}`)
  await rolledOut(component)
  await waitFor(async () => (await podsOf(component.name)).length === replicas, {
    what: `${replicas} pods of ${component.name}`,
    timeout: 120_000,
    interval: 500,
  })
}

/** Makes the pods that a component has now the first to go when it gets fewer. */
export async function expend({ name }: Component): Promise<void> {
  const names = (await podsOf(name)).map((pod) => pod.name)
  await kubectl('annotate', 'pod', ...names, 'controller.kubernetes.io/pod-deletion-cost=-1', '--overwrite')
}

/** Every object of the namespace, as `kind/name`, without those that Kubernetes itself makes and deletes on its own. */
export async function objects(): Promise<string[]> {
  const kinds = (await output('kubectl', ['api-resources', '--namespaced', '--verbs=list', '--output=name']))
    .trim()
    .split('\n')
    .filter((kind) => !/^events|\.metrics\.k8s\.io$/.test(kind))
  const names = await kubectl('get', kinds.join(','), '--output=name', '--ignore-not-found')
  return names.trim().split('\n').filter(Boolean).sort()
}

/** What an operator would look at when something went wrong, in short. */
export async function diagnosis(): Promise<string> {
  const parts = await Promise.all([
    kubectl('get', 'pods,jobs,services', '--output=wide').catch(String),
    kubectl('get', 'events', '--field-selector=type!=Normal', '--sort-by=.lastTimestamp').then(
      (text) => lastLines(text, 15),
      String,
    ),
    kubectl('logs', `--selector=${OF_RELEASE}`, '--all-containers', '--prefix', '--tail=4').then(
      (text) => lastLines(text, 40).replaceAll(/^(.{400}).*$/gm, '$1 ...'),
      String,
    ),
  ])
  return parts.join('\n\n')
}
