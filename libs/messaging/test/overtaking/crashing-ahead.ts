/** A consumer process that is late, and dies right after the effect of a fresh event has committed. */
import { createLogger } from '@restante/service/telemetry'
import { Kafka } from '../../src/index.ts'
import { BROKERS, openDatabase } from '../fixture.ts'
import { FRESH, Gate, overtakingConsumer } from './late-letters.ts'

const [databaseUrl = '', topicPrefix = ''] = process.argv.slice(2)
const kafka = new Kafka({
  brokers: BROKERS,
  clientId: 'crashing',
  replication: 1,
  minInsyncReplicas: 1,
  topicPrefix,
  log: createLogger({ service: 'test', level: 'silent' }),
})
const consumer = overtakingConsumer(
  { kafka, db: openDatabase(databaseUrl) },
  {
    by: 'by the process that died',
    giveWay: new Gate().giveWay,
    onEffect: (numbers) => {
      if (numbers.some((number) => number >= FRESH)) process.kill(process.pid, 'SIGKILL')
    },
  },
)
await consumer.start()
