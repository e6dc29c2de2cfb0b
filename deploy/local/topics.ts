import { topics } from '@restante/contracts/events'
import { checkTopics, ensureTopics, Kafka } from '@restante/messaging'
import { createLogger } from '@restante/service/telemetry'
import { Advice, say } from './progress.ts'

/** Creates missing topics, and ensures that the others match their declaration in libs/contracts. */
export async function prepareTopics(brokers: string): Promise<void> {
  const log = createLogger({ service: 'local', level: 'error' })
  const options = { brokers: brokers.split(','), clientId: 'restante-local', replication: 1, minInsyncReplicas: 1, log }
  const kafka = new Kafka(options)
  const declared = Object.values(topics)
  const created = await ensureTopics(kafka, declared)
  if (created.length > 0) say(`Topics: created ${created.join(', ')}`)
  const differences = await checkTopics(kafka, declared)
  if (differences.length > 0) throw new Advice(`Topics differ from what the code needs:\n${differences.join('\n')}`)
}
