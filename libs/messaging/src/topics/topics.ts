import { setTimeout as sleep } from 'node:timers/promises'
import type { TopicDefinition } from '@restante/contracts/events'
import { within } from '@restante/service/concurrency'
import type { Component } from '@restante/service/process'
import kafkajs, { type Admin, type DescribeConfigResponse } from 'kafkajs'
import type { Durability, Kafka } from '../kafka/kafka.ts'
import { deadLetterSettings, type TopicSettings, topicSettings } from './settings.ts'

/** Kafka's resource type of topics, as opposed to brokers or users. */
const TOPIC = kafkajs.ConfigResourceTypes.TOPIC

const SERVED_WITHIN_MS = 15_000

/**
 * Creates the topics that are missing and corrects the settings of those that exist. Partition counts and replication
 * are never changed: the first would break the order of keys, the second moves data; `checkTopics` reports both.
 * @returns the names of the topics that were created.
 */
export function ensureTopics(
  kafka: Kafka,
  definitions: readonly TopicDefinition[],
  durability: Durability = kafka.durability,
): Promise<string[]> {
  return ensure(
    kafka,
    definitions.map((topic) => topicSettings(topic, durability)),
  )
}

/** Creates the dead letters of a consumer group, kept 14 days; every consumer does so for its own before it starts. */
export async function ensureDeadLetters(kafka: Kafka, group: string): Promise<void> {
  await ensure(kafka, [deadLetterSettings(group, kafka.durability)])
}

function ensure(kafka: Kafka, wanted: readonly TopicSettings[]): Promise<string[]> {
  return kafka.administrate(async (admin) => {
    const existing = new Set(await admin.listTopics())
    const missing = wanted.filter((topic) => !existing.has(kafka.physical(topic.name)))
    await admin.createTopics({
      waitForLeaders: false,
      topics: missing.map((topic) => ({
        topic: kafka.physical(topic.name),
        numPartitions: topic.partitions,
        replicationFactor: topic.replication,
        configEntries: entries(topic),
      })),
    })
    await untilServed(
      admin,
      missing.map((topic) => kafka.physical(topic.name)),
    )
    const present = wanted.filter((topic) => existing.has(kafka.physical(topic.name)))
    const differing = (await differences(kafka, admin, present)).filter((difference) => difference.correctable)
    const names = new Set(differing.map((difference) => difference.topic))
    if (names.size > 0) {
      await admin.alterConfigs({
        validateOnly: false,
        resources: present
          .filter((topic) => names.has(topic.name))
          .map((topic) => ({ type: TOPIC, name: kafka.physical(topic.name), configEntries: entries(topic) })),
      })
    }
    return missing.map((topic) => topic.name)
  })
}

/**
 * Brokers learn of a new topic a moment after the controller created it. kafkajs' own wait for leaders takes a broker
 * that has not learned of it yet for one that never will.
 */
async function untilServed(admin: Admin, names: string[]): Promise<void> {
  if (names.length === 0) return
  const deadline = Date.now() + SERVED_WITHIN_MS
  for (;;) {
    try {
      await admin.fetchTopicMetadata({ topics: names })
      return
    } catch (error) {
      const transient = error instanceof kafkajs.KafkaJSProtocolError && error.retriable
      if (!transient || Date.now() > deadline) throw error
    }
    await sleep(50)
  }
}

/** @returns how the topics in Kafka differ from their definitions, a sentence each; empty when they agree. */
export function checkTopics(
  kafka: Kafka,
  definitions: readonly TopicDefinition[],
  durability: Durability = kafka.durability,
): Promise<string[]> {
  return kafka.administrate(async (admin) => {
    const wanted = definitions.map((topic) => topicSettings(topic, durability))
    const found = await differences(kafka, admin, wanted)
    return found.map(({ topic, what }) => `${topic}: ${what}`)
  })
}

/** @returns the same for topics that are missing, or give less than their definitions promise to producers. */
function insufficientTopics(kafka: Kafka, definitions: readonly TopicDefinition[]): Promise<string[]> {
  return kafka.administrate(async (admin) => {
    const wanted = definitions.map((topic) => topicSettings(topic, kafka.durability))
    const found = await differences(kafka, admin, wanted)
    return found.filter(({ insufficient }) => insufficient).map(({ topic, what }) => `${topic}: ${what}`)
  })
}

export interface ListedTopic {
  readonly name: string
  readonly partitions: number
  readonly records: number
  readonly retention: string
}

/** The topics of this installation, dead letters included, by name. */
export function listTopics(kafka: Kafka): Promise<ListedTopic[]> {
  return kafka.administrate(async (admin) => {
    const names = (await admin.listTopics()).filter(
      (name) => !name.startsWith('__') && kafka.logical(name) !== undefined,
    )
    const configs = await admin.describeConfigs({
      includeSynonyms: false,
      resources: names.map((name) => ({ type: TOPIC, name, configNames: ['retention.ms'] })),
    })
    const listed = names.sort().map(async (name) => {
      const offsets = await admin.fetchTopicOffsets(name)
      const config = configs.resources.find((resource) => resource.resourceName === name)
      return {
        name: kafka.logical(name) ?? name,
        partitions: offsets.length,
        records: offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0),
        retention: `${Math.round(Number(config?.configEntries[0]?.configValue) / 3_600_000)} h`,
      }
    })
    return Promise.all(listed)
  })
}

/** How long readiness waits for the brokers. */
const READY_MS = 1_000

/**
 * Keeps a service unready while its topics are missing or give less than its code needs. Other differences are left to
 * `topics check`: a release that changes the retention of a topic does so before its services replace those of the
 * release before, which must stay ready until then.
 */
export class TopicsCheck implements Component {
  readonly name = 'topics'
  readonly stage = 'base'
  readonly #check: () => Promise<string[]>
  #result: { readonly at: number; readonly differences: Promise<string[]> } | undefined

  constructor(kafka: Kafka, definitions: readonly TopicDefinition[]) {
    this.#check = () => insufficientTopics(kafka, definitions)
  }

  /** Rejects with the differences; unreachable brokers are not a difference, and are not waited for. */
  async ready(): Promise<void> {
    const differences = await within(READY_MS, this.#differences(), () => []).catch(() => [])
    if (differences.length > 0) throw new Error(`run "topics ensure": ${differences.join('; ')}`)
  }

  /** Rejects while the brokers do not answer. */
  async working(): Promise<void> {
    await this.#differences()
  }

  /** Asks Kafka at most once a minute, and every 5 s while there are differences, or no answer. */
  async #differences(): Promise<string[]> {
    if (!this.#result || Date.now() >= this.#result.at) await this.#refresh()
    return (await this.#result?.differences) ?? []
  }

  async #refresh(): Promise<void> {
    const differences = this.#check()
    this.#result = { at: Date.now() + 5_000, differences }
    if ((await differences).length === 0) this.#result = { at: Date.now() + 60_000, differences }
  }
}

interface Difference {
  readonly topic: string
  readonly what: string
  /** Whether `ensureTopics` can correct it. */
  readonly correctable: boolean
  /** Whether records may be refused or lost by it, or it leaves consumers without a partition. */
  readonly insufficient: boolean
}

/** Settings of which a topic needs at least as much as its definition says. */
const LEAST = new Set(['max.message.bytes', 'min.insync.replicas'])

/** Settings by which Kafka loses confirmed records when they are other than the definition says. */
const EXACT = new Set(['cleanup.policy', 'unclean.leader.election.enable'])

async function differences(kafka: Kafka, admin: Admin, wanted: readonly TopicSettings[]): Promise<Difference[]> {
  const existing = new Set(await admin.listTopics())
  const present = wanted.filter((topic) => existing.has(kafka.physical(topic.name)))
  const missing = wanted
    .filter((topic) => !present.includes(topic))
    .map((topic) => ({ topic: topic.name, what: 'does not exist', correctable: true, insufficient: true }))
  if (present.length === 0) return missing
  const [metadata, configs] = await Promise.all([
    admin.fetchTopicMetadata({ topics: present.map((topic) => kafka.physical(topic.name)) }),
    admin.describeConfigs({
      includeSynonyms: false,
      resources: present.map((topic) => ({ type: TOPIC, name: kafka.physical(topic.name) })),
    }),
  ])
  const found = present.flatMap((topic) => {
    const partitions = metadata.topics.find((it) => it.name === kafka.physical(topic.name))?.partitions ?? []
    const replication = Math.min(...partitions.map((partition) => partition.replicas.length))
    return [
      ...differingPartitions(topic, partitions.length),
      ...differingReplication(topic, replication),
      ...differingConfig(kafka, topic, configs),
    ]
  })
  return [...missing, ...found]
}

function differingPartitions({ name, partitions }: TopicSettings, actual: number): Difference[] {
  if (actual === partitions) return []
  const what = `has ${actual} partitions, not ${partitions}`
  return [{ topic: name, what, correctable: false, insufficient: actual < partitions }]
}

function differingReplication({ name, replication }: TopicSettings, actual: number): Difference[] {
  if (actual >= replication) return []
  return [{ topic: name, what: `has ${actual} replicas, not ${replication}`, correctable: false, insufficient: true }]
}

function differingConfig(kafka: Kafka, topic: TopicSettings, configs: DescribeConfigResponse): Difference[] {
  const resource = configs.resources.find((it) => it.resourceName === kafka.physical(topic.name))
  const actual = new Map(resource?.configEntries.map((entry) => [entry.configName, entry.configValue]))
  return Object.entries(topic.config)
    .filter(([name, value]) => actual.get(name) !== value)
    .map(([name, value]) => ({
      topic: topic.name,
      what: `${name} is ${actual.get(name) ?? 'not set'}, not ${value}`,
      correctable: true,
      insufficient: EXACT.has(name) || (LEAST.has(name) && Number(actual.get(name) ?? 0) < Number(value)),
    }))
}

function entries(topic: TopicSettings): { name: string; value: string }[] {
  return Object.entries(topic.config).map(([name, value]) => ({ name, value }))
}
