import path from 'node:path'
import { topics } from '@restante/contracts/events'
import { internalOperations } from '@restante/contracts/internal'
import { MCP_ENDPOINT, operations } from '@restante/contracts/operations'
import { SERVICES, type ServiceName, variablePart } from '@restante/contracts/vocabulary'
import { Configuration, type DescribedVariable, describeVariables } from '@restante/kit'
import { deadLetterTopic } from '@restante/messaging'
import { type Component, Service } from '@restante/service/process'
import { createLogger } from '@restante/service/telemetry'
import { z } from 'zod'
import { root } from './root.ts'
import { sampleEnvironment } from './sample-environment.ts'

/** One consumer of a service. */
export interface ConsumerGroup {
  readonly name: string
  readonly topics: readonly string[]
  readonly deadLetters: string
}

/** What the chart knows of a service. */
export interface DescribedService {
  readonly description: string
  readonly port: number
  /** Services that it sends requests to. */
  readonly calls: readonly ServiceName[]
  readonly calledBy: readonly ServiceName[]
  readonly uses: Readonly<Record<Facility, boolean>>
  /** Topics that it produces. */
  readonly writes: readonly string[]
  readonly groups: readonly ConsumerGroup[]
  readonly variables: Readonly<Record<string, ChartVariable>>
}

interface ChartVariable {
  readonly required?: true
  readonly default?: string
  readonly values?: readonly string[]
  readonly confidential?: 'own' | 'shared'
  readonly meaning: string
}

/** What a service connects to beside other services, by the variable that it then has. */
const FACILITIES = {
  postgres: 'DATABASE_URL',
  kafka: 'KAFKA_BROKERS',
  redis: 'REDIS_URL',
  blobs: 'BLOB_STORE',
  /** Servers of the internet on ports 443 and, where it is allowed, others: what users name, and what is published. */
  web: 'ALLOW_HTTP_URLS',
  /** Mail servers of the internet, to deliver mail or to probe them. */
  mailServers: 'MX_PORT',
  mailProbe: 'RETURN_PROBE',
  /** Name servers other than those of the system. */
  dns: 'DNS_SERVERS',
  clamd: 'CLAMD_URL',
  rspamd: 'RSPAMD_URL',
  smarthost: 'SMARTHOST',
  /** The public API of this installation, as one of its clients. */
  api: 'API_URL',
} as const
export type Facility = keyof typeof FACILITIES

const serviceModule = z.object({
  service: z.object({
    configure: z.custom<(source: Record<string, string>) => unknown>((value) => typeof value === 'function'),
    create: z.custom<(config: unknown, log: unknown) => Promise<unknown>>((value) => typeof value === 'function'),
  }),
})
const configurationModule = z.object({ configuration: z.instanceof(Configuration) })
const manifest = z.object({ description: z.string() })

/** Describes a service by its contracts, by its configuration, and by the components that it is composed of. */
export async function describeService(name: ServiceName): Promise<DescribedService> {
  const folder = path.join(root, 'services', name)
  const { configuration } = configurationModule.parse(await import(path.join(folder, 'src/config.ts')))
  const { description } = manifest.parse((await import(path.join(folder, 'package.json'), JSON_MODULE)).default)
  const variables = describeVariables(configuration)
  const components = await compose(name, variables)
  const has = (variable: string) => variables.some((other) => other.name === variable)
  return {
    description,
    port: Number(variables.find((variable) => variable.name === 'PORT')?.fallback),
    calls: callsOf(name, has),
    calledBy: SERVICES.filter((other) => calls(other, name)),
    uses: usesOf(has),
    writes: writesOf(name, components),
    groups: components.flatMap(groupOf),
    variables: Object.fromEntries(variables.map(chartVariable)),
  }
}

const JSON_MODULE = { with: { type: 'json' } } as const

/** Composes the service as its process does, without starting it. */
async function compose(name: ServiceName, variables: readonly DescribedVariable[]): Promise<readonly Component[]> {
  const { service } = serviceModule.parse(await import(path.join(root, 'services', name, 'src/main.ts')))
  const composed = await service.create(
    service.configure(sampleEnvironment(variables)),
    createLogger({ service: name, level: 'silent' }),
  )
  if (!(composed instanceof Service)) throw new Error(`services/${name} does not define a service`)
  return composed.components
}

function callsOf(name: ServiceName, has: (variable: string) => boolean): ServiceName[] {
  const called = SERVICES.filter((other) => calls(name, other))
  const unknown = called.filter((other) => !has(`${variablePart(other)}_URL`))
  if (unknown.length > 0) throw new Error(`${name} calls ${unknown.join(', ')}, but its configuration does not`)
  return called
}

/** What the gateway passes on: operations of the API, and the endpoint of the tools beside it. */
const FORWARDED = [...Object.values(operations), MCP_ENDPOINT]

/** Whether one service sends requests to another: by an internal operation, or as the gateway in front of a public one. */
function calls(caller: ServiceName, called: ServiceName): boolean {
  const isCaller = Object.values(internalOperations).some(
    ({ service, callers }) => service === called && callers.some((other) => other === caller),
  )
  const isInFront = caller === 'gateway' && called !== 'gateway' && FORWARDED.some(({ service }) => service === called)
  return isCaller || isInFront
}

function usesOf(has: (variable: string) => boolean): Record<Facility, boolean> {
  const { postgres, kafka, redis, blobs, web, mailServers, mailProbe, dns, clamd, rspamd, smarthost, api } = FACILITIES
  return {
    postgres: has(postgres),
    kafka: has(kafka),
    redis: has(redis),
    blobs: has(blobs),
    web: has(web),
    mailServers: has(mailServers),
    mailProbe: has(mailProbe),
    dns: has(dns),
    clamd: has(clamd),
    rspamd: has(rspamd),
    smarthost: has(smarthost),
    api: has(api),
  }
}

/** A service with an outbox runs its relay, the only writer of its topics. */
function writesOf(name: ServiceName, components: readonly Component[]): string[] {
  if (!components.some((component) => component.name === 'outbox relay')) return []
  return Object.values(topics).flatMap((topic) => (topic.producer === name ? [topic.name] : []))
}

/** The group of a component that takes events from topics; none of any other component. */
function groupOf(component: Component): ConsumerGroup[] {
  if (!('topics' in component)) return []
  const reader = topicReader.parse(component)
  return [
    {
      name: reader.group,
      topics: reader.topics.map((topic) => topic.name),
      deadLetters: deadLetterTopic(reader.group),
    },
  ]
}

const topicReader = z.looseObject({ group: z.string(), topics: z.array(z.looseObject({ name: z.string() })) })

function chartVariable({ name, required, fallback, values, confidential, meaning }: DescribedVariable) {
  const variable: ChartVariable = {
    ...(required && { required }),
    ...(fallback && { default: fallback }),
    ...(values && { values }),
    ...(confidential && { confidential }),
    meaning,
  }
  return [name, variable] as const
}
