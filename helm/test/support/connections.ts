import { z } from 'zod'
import { type Manifest, ofKind } from './rendering.ts'
import { containerOf, podsOf, workloads } from './workloads.ts'

const labels = z.object({ matchLabels: z.record(z.string(), z.string()) })
const peer = z.object({
  podSelector: labels.optional(),
  namespaceSelector: z.unknown().optional(),
  ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).optional() }).optional(),
})
const ports = z.array(z.object({ port: z.union([z.string(), z.int()]), protocol: z.enum(['TCP', 'UDP']) }))
const policy = z.looseObject({
  spec: z.object({
    podSelector: labels,
    policyTypes: z.array(z.string()),
    ingress: z.array(z.object({ ports, from: z.array(peer).optional() })).default([]),
    egress: z.array(z.object({ ports, to: z.array(peer).optional() })).default([]),
  }),
})
type Peer = z.output<typeof peer>

/** Every NetworkPolicy. */
export function policies(manifests: readonly Manifest[]): z.output<typeof policy>[] {
  return [...ofKind(manifests, 'NetworkPolicy').values()].map((object) => policy.parse(object))
}

/** What one component may do: everything is refused that is not in here. */
export interface Allowed {
  /** Other pods of the installation with the port: `mail-send:3002`. */
  readonly pods: readonly string[]
  /** The rest: a port, with the place if it has one. */
  readonly others: readonly string[]
}

/** The allowed connections of each component, in one direction. */
export function allowed(manifests: readonly Manifest[], direction: 'ingress' | 'egress'): Map<string, Allowed> {
  const found = policies(manifests).flatMap(({ spec }): [string, Allowed][] => {
    const name = spec.podSelector.matchLabels['app.kubernetes.io/component']
    if (name === undefined) return []
    const rules = spec[direction].map((rule) => ({ ports: rule.ports, peers: 'to' in rule ? rule.to : fromOf(rule) }))
    const pods = rules.flatMap((rule) =>
      (rule.peers ?? [])
        .filter(isPod)
        .flatMap((other) => rule.ports.map(({ port }) => `${componentOf(other)}:${port}`)),
    )
    const others = rules.flatMap(({ ports: own, peers }) => {
      if (peers?.every(isPod)) return []
      const place = peers === undefined ? '' : ` ${peers.map(placeOf).join(' ')}`
      return own.map(({ port, protocol }) => `${protocol === 'UDP' ? 'UDP ' : ''}${port}${place}`)
    })
    return [[name, { pods: pods.toSorted(), others: others.toSorted() }]]
  })
  return new Map(found)
}

function fromOf(rule: object): readonly Peer[] | undefined {
  return 'from' in rule ? z.array(peer).optional().parse(rule.from) : undefined
}

function isPod({ podSelector, namespaceSelector }: Peer): boolean {
  return podSelector !== undefined && namespaceSelector === undefined
}

function componentOf({ podSelector }: Peer): string {
  return podSelector?.matchLabels['app.kubernetes.io/component'] ?? 'any'
}

function placeOf({ ipBlock, namespaceSelector }: Peer): string {
  return ipBlock?.cidr ?? JSON.stringify(namespaceSelector)
}

/** The number of a named port of a component's container. */
export function portOf(manifests: readonly Manifest[], component: string, name: string): number | undefined {
  const object = workloads(manifests).find(
    (other) => podsOf(other).metadata.labels['app.kubernetes.io/component'] === component,
  )
  return object && containerOf(object).ports.find((port) => port.name === name)?.containerPort
}
