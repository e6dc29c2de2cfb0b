import type { Kafka } from '@restante/messaging'
import kafkajs from 'kafkajs'

/** Something that a user of a Kafka cluster is allowed. */
export interface Grant {
  readonly user: string
  readonly resource: 'topic' | 'group' | 'cluster' | 'transactionalId'
  /** The name of the resource, or the beginning of the names of several. The cluster is named `kafka-cluster`. */
  readonly name: string
  readonly pattern: 'literal' | 'prefix'
  /** As Strimzi's KafkaUser names them. */
  readonly operations: readonly string[]
}

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs

const RESOURCES = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  cluster: AclResourceTypes.CLUSTER,
  transactionalId: AclResourceTypes.TRANSACTIONAL_ID,
}
const PATTERNS = { literal: ResourcePatternTypes.LITERAL, prefix: ResourcePatternTypes.PREFIXED }
const OPERATIONS = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Delete: AclOperationTypes.DELETE,
  Alter: AclOperationTypes.ALTER,
  Describe: AclOperationTypes.DESCRIBE,
  ClusterAction: AclOperationTypes.CLUSTER_ACTION,
  AlterConfigs: AclOperationTypes.ALTER_CONFIGS,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
  IdempotentWrite: AclOperationTypes.IDEMPOTENT_WRITE,
  All: AclOperationTypes.ALL,
}

function operationNamed(name: string): number {
  const found = new Map<string, number>(Object.entries(OPERATIONS)).get(name)
  if (found === undefined) throw new Error(`${name} is no operation of Kafka`)
  return found
}

/** Adds ACLs to a cluster. @param admin connections of a user that may alter the cluster. */
export async function grant(admin: Kafka, grants: readonly Grant[]): Promise<void> {
  const acl = grants.flatMap(({ user, resource, name, pattern, operations }) =>
    operations.map((operation) => ({
      principal: `User:${user}`,
      host: '*',
      permissionType: AclPermissionTypes.ALLOW,
      operation: operationNamed(operation),
      resourceType: RESOURCES[resource],
      resourceName: name,
      resourcePatternType: PATTERNS[pattern],
    })),
  )
  await admin.administrate((client) => client.createAcls({ acl }))
}
