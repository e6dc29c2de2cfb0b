import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import type { TopicDefinition } from '@restante/contracts/events'
import { root } from '@restante/local/settings.ts'
import { ensureTopics, Kafka, kafkaConfiguration, kafkaProblems, kafkaVariables } from '@restante/messaging'
import { readEnvironment } from '@restante/service/configuration'
import { serviceCommand } from '@restante/service/process'
import { createLogger } from '@restante/service/telemetry'
import { byLength, collectTopic, describeAtFullLength, freePort, grant, randomName, waitFor } from '@restante/testkit'
import { type Foundation, layFoundation, removeFoundation, SecureBroker } from './secure-engines.ts'
import { SUPER_USER } from './servers/kafka.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const USER = 'gateway'
/** A user whom no ACL allows a topic. */
const NOBODY = 'nobody'

const letters = {
  name: 'letters',
  producer: 'gateway',
  key: 'box',
  partitions: 1,
  retentionMs: 3_600_000,
  summary: 'letters for tests',
  events: {},
} as const satisfies TopicDefinition

describeAtFullLength({ programs: ['openssl', 'java', 'mvn'] }, 'Kafka with TLS and SASL', () => {
  let foundation: Foundation
  let broker: SecureBroker
  beforeAll(async () => {
    foundation = await layFoundation()
    broker = await SecureBroker.start(foundation, [USER, NOBODY])
    await ensureTopics(broker.kafka.admin, [letters])
    await grant(broker.kafka.admin, [
      { user: USER, resource: 'topic', name: 'letters', pattern: 'literal', operations: ['Read', 'Write', 'Describe'] },
      { user: USER, resource: 'group', name: 'collect-', pattern: 'prefix', operations: ['Read', 'Delete'] },
      { user: USER, resource: 'cluster', name: 'kafka-cluster', pattern: 'literal', operations: ['IdempotentWrite'] },
      { user: NOBODY, resource: 'cluster', name: 'kafka-cluster', pattern: 'literal', operations: ['IdempotentWrite'] },
    ])
  })
  afterAll(async () => {
    await broker?.stop()
    await removeFoundation(foundation)
  })

  /** The variables of a service that uses a mechanism. */
  function environmentOf(mechanism: string, user = USER): Record<string, string> {
    const { scram, plain, oauth } = broker.kafka.brokers
    const password = broker.users[user] ?? ''
    const common = {
      ENGINE_CA_FILE: foundation.authority.file,
      KAFKA_SSL: 'true',
      KAFKA_SASL_MECHANISM: mechanism,
      KAFKA_REPLICATION: '1',
      KAFKA_MIN_INSYNC_REPLICAS: '1',
    }
    if (mechanism === 'oauthbearer') {
      return {
        ...common,
        KAFKA_BROKERS: oauth,
        KAFKA_OAUTH_TOKEN_URL: broker.tokens.url,
        KAFKA_OAUTH_CLIENT_ID: user,
        KAFKA_OAUTH_CLIENT_SECRET: password,
        KAFKA_OAUTH_SCOPE: 'events',
      }
    }
    const brokers = mechanism === 'plain' ? plain : scram
    return { ...common, KAFKA_BROKERS: brokers, KAFKA_SASL_USERNAME: user, KAFKA_SASL_PASSWORD: password }
  }

  /** Connections by these variables, as a service makes them. */
  function connections(environment: Record<string, string>): Kafka {
    const given = readEnvironment(kafkaVariables, environment)
    expect(kafkaProblems(given)).toEqual([])
    return new Kafka({ ...kafkaConfiguration(given), clientId: 'test', log })
  }

  async function send(kafka: Kafka, values: readonly string[]): Promise<void> {
    const producer = kafka.producer()
    await producer.connect()
    try {
      await producer.send({ topic: 'letters', messages: values.map((value) => ({ key: 'a', value })) })
    } finally {
      await producer.disconnect()
    }
  }

  /** What is wrong with connections by these variables. */
  const refused = (environment: Record<string, string>) =>
    connections(environment)
      .administrate((admin) => admin.describeCluster())
      .then(
        () => 'it is reached',
        (error: Error) => error.message,
      )

  const MECHANISMS = ['scram-sha-256', 'scram-sha-512', 'plain', 'oauthbearer'] as const

  it.each(MECHANISMS)('carries records from a producer to a consumer that authenticate by %s', async (mechanism) => {
    const kafka = connections(environmentOf(mechanism))
    const value = `by ${mechanism} ${randomName()}`
    await send(kafka, [value])
    const collected = await collectTopic(kafka, 'letters')
    const record = await collected.next((each) => each.value === value, { what: 'the record' })
    expect(record.value).toBe(value)
    await collected.stop()
  })

  it.each(MECHANISMS)('refuses a user of %s whom no ACL allows the topic', async (mechanism) => {
    await expect(send(connections(environmentOf(mechanism, NOBODY)), ['never'])).rejects.toThrow(/[Nn]ot authorized/)
  })

  it.each(MECHANISMS)('is refused with %s when another authority has signed its certificate', async (mechanism) => {
    const environment = { ...environmentOf(mechanism), ENGINE_CA_FILE: foundation.stranger.file }
    expect(await refused(environment)).toMatch(
      /^(Kafka|The token endpoint of Kafka): no trusted authority .*ENGINE_CA_FILE/,
    )
  })

  it('is refused when its certificate is for another host', async () => {
    const environment = environmentOf('scram-sha-512')
    const brokers = (environment['KAFKA_BROKERS'] ?? '').replace('localhost', '127.1')
    expect(await refused({ ...environment, KAFKA_BROKERS: brokers })).toMatch(
      /^Kafka: its certificate is for another host/,
    )
  })

  it.each(['scram-sha-256', 'scram-sha-512', 'plain'])(
    'names the variables when the password of %s is wrong',
    async (mechanism) => {
      const message = await refused({ ...environmentOf(mechanism), KAFKA_SASL_PASSWORD: 'wrong-secret' })
      expect(message).toMatch(/^Kafka: it refused the credentials .*correct KAFKA_SASL_MECHANISM and the credentials/)
      expect(message).not.toMatch('wrong-secret')
    },
  )

  it('names KAFKA_SSL to a client without TLS', async () => {
    expect(await refused({ ...environmentOf('scram-sha-512'), KAFKA_SSL: 'false' })).toMatch(
      /^Kafka: .*if it requires TLS there, set KAFKA_SSL=true/,
    )
  })

  it('is operated by the commands, with the variables that services have', async () => {
    const run = (file: string, words: readonly string[], environment: Record<string, string>) => {
      const [program, ...args] = serviceCommand(path.join(root, 'libs/messaging/src/commands', file))
      return promisify(execFile)(program, [...args, ...words], { env: { PATH: process.env['PATH'], ...environment } })
    }
    for (const mechanism of ['scram-sha-512', 'oauthbearer']) {
      const environment = environmentOf(mechanism, SUPER_USER)
      expect((await run('topics.ts', ['list'], environment)).stdout).toMatch(/letters/)
      expect((await run('dead-letters.ts', ['list'], environment)).stdout).toMatch('There are no dead letters.')
      await expect(run('topics.ts', ['list'], { ...environment, ENGINE_CA_FILE: '' })).rejects.toMatchObject({
        stderr: expect.stringMatching(/ENGINE_CA_FILE/),
      })
    }
  })

  describe('by OAUTHBEARER', () => {
    it('asks for one token for all connections of a process, with its scope', async () => {
      const kafka = connections(environmentOf('oauthbearer'))
      const before = broker.tokens.answers.length
      await Promise.all([send(kafka, ['a']), send(kafka, ['b']), send(kafka, ['c'])])
      expect(broker.tokens.answers.slice(before)).toEqual([{ status: 200, scope: 'events' }])
    })

    it('keeps a connection beyond the lifetime of its token, with a new one', async () => {
      broker.tokens.lifetimeSeconds = 12
      const kafka = connections(environmentOf('oauthbearer'))
      const before = broker.tokens.answers.length
      const producer = kafka.producer()
      await producer.connect()
      const until = performance.now() + byLength({ short: 0, long: 15_000 })
      let sent = 0
      await waitFor(
        async () => {
          await producer.send({ topic: 'letters', messages: [{ key: 'renewed', value: String(sent++) }] })
          return performance.now() > until && broker.tokens.answers.length > before + 1
        },
        { what: 'the lifetime of a token', timeout: 40_000, interval: 250 },
      )
      await producer.disconnect()
      broker.tokens.lifetimeSeconds = 300
      expect(sent).toBeGreaterThan(20)
    })

    it('names the variables when the client secret is wrong', async () => {
      const message = await refused({ ...environmentOf('oauthbearer'), KAFKA_OAUTH_CLIENT_SECRET: 'wrong-secret' })
      expect(message).toMatch(
        /The token endpoint of Kafka .* answered 401 invalid_client \(the client is unknown\); correct/,
      )
      expect(message).toMatch('KAFKA_OAUTH_CLIENT_SECRET')
      expect(message).not.toMatch('wrong-secret')
    })

    it('names the token endpoint when it does not answer', async () => {
      const url = `https://localhost:${await freePort()}/token`
      expect(await refused({ ...environmentOf('oauthbearer'), KAFKA_OAUTH_TOKEN_URL: url })).toMatch(
        /The token endpoint of Kafka \(localhost:\d+\) gave no token: .*ECONNREFUSED/,
      )
    })
  })
})
