import { topics } from '@restante/contracts/events'
import { SERVICES } from '@restante/contracts/vocabulary'
import { deadLetterSettings, type TopicSettings, topicSettings } from '@restante/messaging'
import { type DescribedService, describeService } from './described-service.ts'

/** What the chart knows of the code: `files/services.json`. */
export interface ServicesDocument {
  readonly services: Readonly<Record<string, DescribedService>>
  /** Every topic with its settings; durability is the installation's. */
  readonly topics: readonly Topic[]
}

interface Topic {
  readonly name: string
  readonly partitions: number
  readonly config: Readonly<Record<string, string>>
}

/** Describes all services. Nothing is started, and nothing is connected to. */
export async function servicesDocument(): Promise<ServicesDocument> {
  const services: Record<string, DescribedService> = {}
  for (const name of SERVICES) services[name] = await describeService(name)
  const groups = Object.values(services).flatMap((service) => service.groups)
  return {
    services,
    topics: [
      ...Object.values(topics).map((topic) => topicSettings(topic, NO_DURABILITY)),
      ...groups.map(({ name }) => deadLetterSettings(name, NO_DURABILITY)),
    ].map(withoutDurability),
  }
}

/** Left out of the document again. */
const NO_DURABILITY = { replication: 0, minInsyncReplicas: 0 }

function withoutDurability({ name, partitions, config }: TopicSettings): Topic {
  const { 'min.insync.replicas': _, ...own } = config
  return { name, partitions, config: own }
}
