import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { type AppSettings, type InternalRequestOf, internalOperations } from '@restante/contracts/internal'
import {
  collectTopic,
  createDatabase,
  createTopics,
  engines,
  freePort,
  GATEWAY_KEYS,
  GATEWAY_TOPICS,
  GatewayProcess,
  openRedis,
  peerHeaders,
  startService,
  type TopicCollection,
} from '@restante/testkit'
import { service as appsSignin } from '../../src/main.ts'
import { appSettings, type TestApp } from '../support/fixture.ts'

type SystemMail = InternalRequestOf<'mail-send.sendSystemMail'>

/** mail-send at its wire, as far as the gateway mails humans. */
class FakeMailSend {
  readonly mails: SystemMail[] = []
  url = ''
  readonly #server: Server = createServer(async (request, response) => {
    const operation = internalOperations['mail-send.sendSystemMail']
    const body: unknown = await json(request)
    const isKnown = request.url === operation.path
    if (isKnown) this.mails.push(operation.body.parse(body))
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' }).end('{}')
  })

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    this.url = `http://127.0.0.1:${address.port}`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** apps-signin behind a real gateway: agents call the API of the gateway, browsers the sign-in origin. */
export interface Stage {
  readonly gateway: GatewayProcess
  readonly authBase: string
  readonly published: TopicCollection
  /** Mails to humans. */
  readonly mails: readonly SystemMail[]
  app(settings?: Partial<AppSettings>): Promise<TestApp>
  stop(): Promise<void>
}

export async function startStage(): Promise<Stage> {
  const redis = openRedis()
  const [database, kafka, port, authPort, mail] = await Promise.all([
    createDatabase(path.resolve(import.meta.dirname, '../..')),
    createTopics(GATEWAY_TOPICS),
    freePort(),
    freePort(),
    new FakeMailSend().start(),
  ])
  const url = `http://127.0.0.1:${port}`
  const authBase = `http://localhost:${authPort}`
  const upstreams = { 'apps-signin': url, 'mail-send': mail.url }
  const gateway = await GatewayProcess.start({ topics: kafka, redis, upstreams })
  const config = appsSignin.configure({
    PORT: String(port),
    HOST: '127.0.0.1',
    AUTH_PORT: String(authPort),
    AUTH_BASE: authBase,
    DATABASE_URL: database.url,
    PUBLIC_URL: gateway.url,
    DOCS_URL: 'http://docs.test',
    KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    TOPIC_PREFIX: kafka.prefix,
    GATEWAY_URL: gateway.url,
    PEER_KEY_GATEWAY: GATEWAY_KEYS.peer,
    CALLER_KEY: GATEWAY_KEYS.caller,
    CURSOR_SECRET: 'the secret of the page tokens',
    ENCRYPTION_KEY: 'the key of the stored secrets',
    SUBJECT_SECRET: 'the secret of the subjects, 32 b',
  })
  const published = await collectTopic(kafka.kafka, 'apps.accounts')
  const running = await startService(appsSignin, config)
  return {
    gateway,
    authBase,
    published,
    mails: mail.mails,
    async app(settings) {
      const { path: target, response } = internalOperations['apps-signin.createApp']
      const answer = await fetch(url + target, {
        method: 'POST',
        headers: peerHeaders('gateway', 'apps-signin', GATEWAY_KEYS.peer, 'apps-signin.createApp'),
        body: JSON.stringify({ app_id: randomUUID(), settings: appSettings(settings), operator: 'tester' }),
      })
      const made = response.parse(await answer.json())
      if (made.outcome !== 'done') throw new Error(`the app was refused: ${JSON.stringify(made)}`)
      return { ...made.app, client_secret: made.client_secret ?? '' }
    },
    async stop() {
      await running.stop()
      await gateway.stop()
      await Promise.all([published.stop(), mail.stop()])
      await Promise.all([kafka.delete(), redis.close()])
      await database.drop()
    },
  }
}
