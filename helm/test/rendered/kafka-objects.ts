import type { Kafka } from '@restante/messaging'
import { type Grant, grant } from '@restante/testkit'
import { z } from 'zod'
import { type Manifest, ofKind } from '../support/rendering.ts'

const kafkaUser = z.looseObject({
  spec: z.object({
    authorization: z.object({
      acls: z.array(
        z.object({
          resource: z.object({
            type: z.enum(['topic', 'group', 'cluster', 'transactionalId']),
            name: z.string().default('kafka-cluster'),
            patternType: z.enum(['literal', 'prefix']).default('literal'),
          }),
          operations: z.array(z.string()),
        }),
      ),
    }),
  }),
})

const kafkaTopic = z.looseObject({
  spec: z.object({
    topicName: z.string(),
    partitions: z.int(),
    replicas: z.int(),
    config: z.record(z.string(), z.string()),
  }),
})

/** Creates the topics of the KafkaTopics and gives the KafkaUsers their rights, as the operator of Strimzi does. */
export async function applyKafkaObjects(admin: Kafka, manifests: readonly Manifest[]): Promise<void> {
  await createTopics(admin, manifests)
  await grant(admin, grantsOf(manifests))
}

async function createTopics(admin: Kafka, manifests: readonly Manifest[]): Promise<void> {
  const described = [...ofKind(manifests, 'KafkaTopic').values()].map((object) => kafkaTopic.parse(object).spec)
  await admin.administrate((client) =>
    client.createTopics({
      topics: described.map(({ topicName: topic, partitions, replicas, config }) => ({
        topic,
        numPartitions: partitions,
        replicationFactor: replicas,
        configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
      })),
    }),
  )
}

/** What the ACLs of the KafkaUsers allow. */
function grantsOf(manifests: readonly Manifest[]): Grant[] {
  return [...ofKind(manifests, 'KafkaUser').values()].flatMap((object) =>
    kafkaUser.parse(object).spec.authorization.acls.map(({ resource, operations }) => ({
      user: object.metadata.name,
      resource: resource.type,
      name: resource.name,
      pattern: resource.patternType,
      operations,
    })),
  )
}
