import path from 'node:path'
import { ServiceClient } from '@restante/service/http'
import type { Service } from '@restante/service/process'
import {
  createDatabase,
  createTopics,
  engines,
  freePort,
  startService,
  type TestDatabase,
  type TestTopics,
} from '@restante/testkit'
import { service as definition } from '../src/main.ts'

const KEY = 'a key of at least 16 characters'

describe('metrics', () => {
  let database: TestDatabase
  let topics: TestTopics
  let service: Service
  let gateway: ServiceClient<'gateway'>

  beforeAll(async () => {
    database = await createDatabase(path.resolve(import.meta.dirname, '..'))
    topics = await createTopics()
    const port = await freePort()
    const config = definition.configure({
      PORT: String(port),
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      KAFKA_BROKERS: engines.kafkaBrokers.join(','),
      KAFKA_REPLICATION: '1',
      KAFKA_MIN_INSYNC_REPLICAS: '1',
      TOPIC_PREFIX: topics.prefix,
      PUBLIC_URL: 'http://public.test',
      GATEWAY_URL: 'http://127.0.0.1:9',
      PEER_KEY_GATEWAY: KEY,
      CALLER_KEY: KEY,
    })
    service = await startService(definition, config)
    gateway = new ServiceClient({ from: 'gateway', to: 'metrics', url: `http://127.0.0.1:${port}`, key: KEY })
  })
  afterAll(async () => {
    await gateway.stop()
    await service.stop()
    await topics.delete()
    await database.drop()
  })

  it('counts the visits of each visitor', async () => {
    expect(await gateway.call('metrics.countVisit', { visitor: 'ann' })).toEqual({ visits: 1 })
    expect(await gateway.call('metrics.countVisit', { visitor: 'ann' })).toEqual({ visits: 2 })
    expect(await gateway.call('metrics.countVisit', { visitor: 'bob' })).toEqual({ visits: 1 })
  })
})
