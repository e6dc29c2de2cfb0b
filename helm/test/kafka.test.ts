import { topics } from '@restante/contracts/events'
import { STORING_SERVICES } from '@restante/contracts/vocabulary'
import { deadLetterTopic, topicSettings } from '@restante/messaging'
import { z } from 'zod'
import { type Manifest, ofKind, one, render } from './support/rendering.ts'
import { describedServices } from './support/services.ts'

const acl = z.object({
  resource: z.object({
    type: z.enum(['topic', 'group']),
    name: z.string(),
    patternType: z.enum(['literal', 'prefix']),
  }),
  operations: z.array(z.string()),
})
const user = z.looseObject({
  spec: z.object({
    authentication: z.object({ type: z.string() }),
    authorization: z.object({ type: z.string(), acls: z.array(acl) }),
  }),
})

const STRIMZI = { cluster: 'events', topics: { enabled: true }, users: { enabled: true } }

/** `Write mail.messages` for each right. */
function rightsOf(manifests: readonly Manifest[], name: string): string[] {
  const { acls } = user.parse(one(manifests, 'KafkaUser', `restante-${name}-kafka`)).spec.authorization
  return acls.flatMap(({ resource, operations }) => operations.map((operation) => `${operation} ${resource.name}`))
}

describe('the KafkaUser of a service', () => {
  let manifests: Manifest[]
  beforeAll(async () => {
    manifests = await render({ values: { strimzi: STRIMZI } })
  })

  it('writes the topics that it produces and the dead letters of its groups, and no others', () => {
    for (const service of STORING_SERVICES) {
      const written = rightsOf(manifests, service).flatMap((right) => /^Write (.+)$/.exec(right)?.[1] ?? [])
      const produced = Object.values(topics).flatMap((topic) => (topic.producer === service ? [topic.name] : []))
      const others = written.filter((name) => !produced.some((topic) => topic === name))
      expect(written).toEqual(expect.arrayContaining(produced))
      for (const name of others) expect(name).toMatch(new RegExp(`^${service}\\..+\\.dlq$`))
    }
  })

  it('reads what it consumes, in groups whose names begin with its own', () => {
    expect(rightsOf(manifests, 'webhooks-dispatcher').filter((right) => right.startsWith('Read '))).toEqual([
      'Read mail.messages',
      'Read domains.events',
      'Read calendar.events',
      'Read tenancy',
      'Read webhooks-dispatcher.',
    ])
  })

  it('reads the topics that it writes, as the check of an operator does, in groups whose names begin with its own', () => {
    const reads = (service: string) => rightsOf(manifests, service).filter((right) => right.startsWith('Read '))
    expect(reads('gateway')).toEqual(['Read tenancy', 'Read apps.accounts', 'Read gateway.'])
    expect(reads('mail-send')).toEqual(expect.arrayContaining(['Read mail.deliveries', 'Read mail-send.']))
  })

  it('is there for each service that uses Kafka, and for the operator', () => {
    const users = [...STORING_SERVICES, 'operator'].map((name) => `restante-${name}-kafka`)
    expect([...ofKind(manifests, 'KafkaUser').keys()].toSorted()).toEqual(users.toSorted())
  })

  it('gives pods its name and password, which is in a Secret that is not the service’s', () => {
    expect(one(manifests, 'ConfigMap', 'restante-gateway')).toMatchObject({
      data: { KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'restante-gateway-kafka' },
    })
    expect(ofKind(manifests, 'KafkaUser').has('restante-gateway')).toBe(false)
  })
})

describe('the KafkaTopics', () => {
  it('are the topics of the contracts and the dead letters of every group, with the settings that services check', async () => {
    const manifests = await render({ values: { strimzi: STRIMZI, settings: { TOPIC_PREFIX: 'eu.' } } })
    const services = await describedServices()
    const groups = Object.values(services).flatMap((service) => service.groups.map(({ name }) => name))
    const found = [...ofKind(manifests, 'KafkaTopic').values()].map(
      (object) => z.object({ spec: z.object({ topicName: z.string() }) }).parse(object).spec.topicName,
    )
    const names = [...Object.values(topics).map(({ name }) => name), ...groups.map(deadLetterTopic)]
    expect(found.toSorted()).toEqual(names.map((name) => `eu.${name}`).toSorted())
    for (const topic of Object.values(topics)) {
      const { partitions, replication, config } = topicSettings(topic, { replication: 3, minInsyncReplicas: 2 })
      expect(one(manifests, 'KafkaTopic', `restante-${topic.name}`)).toMatchObject({
        spec: { topicName: `eu.${topic.name}`, partitions, replicas: replication, config },
      })
    }
    expect(ofKind(manifests, 'Job').has('restante-topics')).toBe(false)
  })

  it('are as durable as the installation', async () => {
    const settings = { KAFKA_REPLICATION: 1, KAFKA_MIN_INSYNC_REPLICAS: 1 }
    const manifests = await render({ values: { strimzi: STRIMZI, settings } })
    expect(one(manifests, 'KafkaTopic', 'restante-tenancy')).toMatchObject({
      spec: { replicas: 1, config: { 'min.insync.replicas': '1' } },
    })
  })
})
