import type { TopicDefinition } from '@restante/contracts/events'
import type { Finding } from '@restante/contracts/internal'
import type { Admin } from 'kafkajs'
import { knownGroups } from '../dead-letters/reader.ts'
import type { Kafka } from '../kafka/kafka.ts'
import { checkTopics, ensureTopics } from '../topics/topics.ts'

/** Checks that the topics are as their definitions say. A repair creates and corrects what `topics ensure` does. */
export async function topicsCheck(
  kafka: Kafka,
  definitions: readonly TopicDefinition[],
  repair: boolean,
): Promise<Finding[]> {
  const before = await checkTopics(kafka, definitions)
  if (before.length === 0) return []
  if (repair) await ensureTopics(kafka, definitions)
  const left = new Set(repair ? await checkTopics(kafka, definitions) : before)
  return before.map((difference) => ({
    subject: 'topics',
    problem: difference,
    state: left.has(difference) ? 'open' : 'repaired',
    ...(left.has(difference) && { advice: 'partitions and replicas are changed with the tools of Kafka' }),
  }))
}

type Committed = Awaited<ReturnType<Admin['fetchOffsets']>>
/** The first and the next offset of each partition, by topic as Kafka names it. */
type Bounds = Map<string, ReadonlyMap<number, { readonly low: number; readonly high: number }>>

/** The committed offset of a group that its partition does not have. */
interface Misplaced {
  readonly topic: string
  readonly partition: number
  readonly committed: number
  readonly low: number
  readonly high: number
}

/**
 * Checks that the committed offsets of all consumer groups lie in their topics. They do not when Kafka was emptied or put
 * back from a backup. A consumer that fetches there continues at the beginning of what there is, and marks keep it from
 * repeating anything; but one that starts after the topic has grown past its offset would skip what is before it. A
 * repair sets the offset of a group that is not running to the beginning.
 */
export async function offsetsCheck(
  kafka: Kafka,
  definitions: readonly TopicDefinition[],
  repair: boolean,
): Promise<Finding[]> {
  const groups = await knownGroups(kafka)
  return kafka.administrate(async (admin) => {
    const existing = new Set(await admin.listTopics())
    const names = definitions.map(({ name }) => kafka.physical(name)).filter((name) => existing.has(name))
    // In this order: topics only grow, so that no offset that is committed beside this lies beyond their ends.
    const committed = new Map<string, Committed>()
    for (const group of groups)
      committed.set(group, await admin.fetchOffsets({ groupId: kafka.physical(group), topics: names }))
    const bounds: Bounds = new Map()
    for (const topic of names) {
      const offsets = await admin.fetchTopicOffsets(topic)
      bounds.set(topic, new Map(offsets.map((it) => [it.partition, { low: Number(it.low), high: Number(it.high) }])))
    }
    const findings: Finding[] = []
    for (const [group, offsets] of committed)
      findings.push(...(await checkGroup(kafka, admin, { group, misplaced: misplacedAmong(offsets, bounds) }, repair)))
    return findings
  })
}

function misplacedAmong(committed: Committed, bounds: Bounds): Misplaced[] {
  return committed.flatMap(({ topic, partitions }) =>
    partitions.flatMap(({ partition, offset }): Misplaced[] => {
      const bound = bounds.get(topic)?.get(partition)
      const at = Number(offset)
      if (!bound || at < 0 || (at >= bound.low && at <= bound.high)) return []
      return [{ topic, partition, committed: at, ...bound }]
    }),
  )
}

async function checkGroup(
  kafka: Kafka,
  admin: Admin,
  { group, misplaced }: { readonly group: string; readonly misplaced: readonly Misplaced[] },
  repair: boolean,
): Promise<Finding[]> {
  if (misplaced.length === 0) return []
  const groupId = kafka.physical(group)
  const isRunning = await hasMembers(admin, groupId)
  if (repair && !isRunning) await moveToBeginning(admin, groupId, misplaced)
  return misplaced.map((one) => findingOf(kafka, group, one, { isRunning, repair }))
}

function findingOf(
  kafka: Kafka,
  group: string,
  { topic, partition, committed, low, high }: Misplaced,
  { isRunning, repair }: { isRunning: boolean; repair: boolean },
): Finding {
  const where = committed > high ? `beyond the end ${high}` : `before the beginning ${low}`
  const subject = `${group} ${kafka.logical(topic) ?? topic}/${partition}`
  const problem = `offset ${committed} is ${where} of the partition`
  if (!isRunning) return { subject, problem, state: repair ? 'repaired' : 'open' }
  const advice = 'its consumer is running and continues at the beginning; the offset follows with the next event'
  return { subject, problem, state: 'waiting', advice }
}

async function hasMembers(admin: Admin, groupId: string): Promise<boolean> {
  const { groups } = await admin.describeGroups([groupId])
  return groups.some(({ members }) => members.length > 0)
}

async function moveToBeginning(admin: Admin, groupId: string, misplaced: readonly Misplaced[]): Promise<void> {
  for (const [topic, of] of Map.groupBy(misplaced, (one) => one.topic)) {
    const partitions = of.map(({ partition, low }) => ({ partition, offset: String(low) }))
    await admin.setOffsets({ groupId, topic, partitions })
  }
}
