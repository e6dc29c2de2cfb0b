/** A consumer process that dies right after an effect has committed and before its offset has. */
import { createLogger } from '@restante/service/telemetry'
import { Consumer, Kafka } from '../../src/index.ts'
import { ADD_EFFECT, BROKERS, letters, openDatabase } from '../fixture.ts'

const [databaseUrl = '', topicPrefix = ''] = process.argv.slice(2)
const consumer = new Consumer({
  kafka: new Kafka({
    brokers: BROKERS,
    clientId: 'crashing',
    replication: 1,
    minInsyncReplicas: 1,
    topicPrefix,
    log: createLogger({ service: 'test', level: 'silent' }),
  }),
  db: openDatabase(databaseUrl),
  service: 'mail-ingest',
  topic: letters,
  sessionTimeoutMs: 12_000,
  heartbeatMs: 200,
  handlers: {
    'letter.posted': {
      effect: async (tx, event) => {
        await tx.query(ADD_EFFECT, event.key, event.payload.number, 'by the process that died')
        tx.afterCommit(() => process.kill(process.pid, 'SIGKILL'))
      },
    },
  },
})
await consumer.start()
