import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { Consumer, ensureTopics, Kafka } from '@restante/messaging'
import type { Service } from '@restante/service/process'
import { createLogger } from '@restante/service/telemetry'
import { freePort } from '@restante/service/testing'
import { callerVariables, configurationOf, defineService, type Kit } from '../src/index.ts'

const SECRET = 'a secret of at least 16 characters'
const PREFIX = `test-${randomUUID().slice(0, 8)}-`
const BROKERS = process.env['KAFKA_BROKERS'] ?? '127.0.0.1:19092'
const DATABASE_URL = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'
const log = createLogger({ service: 'test', level: 'silent' })

type TestKit = Kit<'websocket-fanout', 'gateway'>

describe('a service that is composed from the kit', () => {
  const topic = topics['mail.messages']
  const kafka = new Kafka({
    brokers: BROKERS.split(','),
    clientId: 'test',
    replication: 1,
    minInsyncReplicas: 1,
    topicPrefix: PREFIX,
    log,
  })
  let port: number

  beforeAll(async () => {
    port = await freePort()
    await ensureTopics(kafka, [topic])
  })
  afterAll(() => kafka.administrate((admin) => admin.deleteTopics({ topics: [kafka.physical(topic.name)] })))

  async function compose(assemble: (kit: TestKit, callerKey: string) => void): Promise<Service> {
    const configuration = configurationOf('websocket-fanout', { peers: ['gateway'] }).with(callerVariables)
    const service = defineService({ configuration, assemble: (kit, config) => assemble(kit, config.callerKey) })
    const config = service.configure({
      PORT: String(port),
      HOST: '127.0.0.1',
      DATABASE_URL,
      KAFKA_BROKERS: BROKERS,
      KAFKA_REPLICATION: '1',
      KAFKA_MIN_INSYNC_REPLICAS: '1',
      TOPIC_PREFIX: PREFIX,
      PUBLIC_URL: 'http://public.test',
      GATEWAY_URL: 'http://127.0.0.1:9',
      PEER_KEY_GATEWAY: SECRET,
      CALLER_KEY: SECRET,
    })
    return service.create(config, log)
  }

  const consumerOf = ({ kafka, db, name: service }: TestKit, topic: (typeof topics)['mail.messages' | 'tenancy']) =>
    new Consumer({ kafka, db, service, topic, batch: { effectMany: async () => {} } })

  it('is ready when the topics of its consumers exist', async () => {
    const service = await compose((kit) => kit.use(consumerOf(kit, topics['mail.messages'])))
    expect(await service.problems()).toEqual({})
  })

  it('is not ready while a topic of one of its consumers is missing, and names it', async () => {
    const service = await compose((kit) => {
      kit.use(consumerOf(kit, topics['mail.messages']))
      kit.use(consumerOf(kit, topics.tenancy))
    })
    const problems = await service.problems()
    expect(problems['topics']).toMatch(/tenancy: does not exist/)
    expect(problems['topics']).not.toMatch(/mail\.messages/)
  })

  it('needs no topic, and runs no relay, when it neither consumes nor publishes', async () => {
    const service = await compose(() => {})
    expect(Object.keys(await service.degradations())).toEqual([])
  })

  it('runs a relay when it publishes', async () => {
    const service = await compose((kit) => void kit.outbox)
    expect(await service.degradations()).toEqual({ 'outbox relay': expect.any(String) })
  })

  it('starts stage by stage whatever the order of composition, and stops in reverse', async () => {
    const steps: string[] = []
    const component = (name: string, stage?: 'base' | 'work' | 'front' | 'sessions') => ({
      name,
      ...(stage && { stage }),
      start: async () => void steps.push(`+${name}`),
      stop: async () => void steps.push(`-${name}`),
    })
    const service = await compose((kit) => {
      kit.use(component('streams', 'sessions'))
      kit.use(component('server', 'front'))
      kit.use(component('timers', 'work'))
      kit.use(component('first'))
      kit.use(component('second'))
      kit.use(component('relay', 'base'))
    })
    await service.start()
    await service.stop()
    const started = ['relay', 'first', 'second', 'timers', 'server', 'streams']
    expect(steps).toEqual([...started.map((name) => `+${name}`), ...started.toReversed().map((name) => `-${name}`)])
  })

  it('serves its operations and its health where the configuration says', async () => {
    const service = await compose((kit, callerKey) => {
      const done = async () => ({})
      kit.serve({
        callerKey,
        handlers: { 'stream.poll': async () => ({ events: [], cursor: 'next' }) },
        internal: { 'websocket-fanout.drainConnections': done, 'websocket-fanout.endStreams': done },
      })
    })
    await service.start()
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
    const drain = await fetch(`http://127.0.0.1:${port}/internal/connections/drain`, { method: 'POST' })
    expect(drain.status).toBe(401)
    await service.stop()
  })

  it('refuses components after its composition', async () => {
    let kept: TestKit | undefined
    await compose((kit) => {
      kept = kit
    })
    expect(() => kept?.use({ name: 'late' })).toThrow('late cannot be added')
  })
})
