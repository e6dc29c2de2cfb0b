import { Timers } from '@restante/jobs'
import { Kafka, MarkSweeper } from '@restante/messaging'
import {
  Cursors,
  GuardedFetch,
  HttpListener,
  type Logger,
  run,
  SecretBox,
  Service,
  ServiceClient,
  serviceRoutes,
} from '@restante/service'
import { type Config, configure, environment } from './config.ts'
import { type Orm, openDatabase } from './database.ts'
import { Deliverer } from './delivery/attempt.ts'
import { messageConsumer } from './delivery/consumers.ts'
import type { TimerKinds } from './delivery/timers.ts'
import { tenancyConsumer } from './tenancy/consumers.ts'
import { webhookRoutes } from './webhooks/routes.ts'

const name = 'webhooks-dispatcher'

/** An attempt takes at most the delivery timeout; the rest of the lease is for the database. */
const LEASE_MS = 60_000
/** Our own trouble, not the receiver's: the attempt is made again soon and counts for nothing. */
const RETRY_OWN_FAILURE_MS = 5_000

/** Webhook subscriptions, and the signed delivery of every event that one of them matches. */
export function create(config: Config, log: Logger): Service {
  const service = new Service({ name, log })
  const db = service.use(openDatabase(config))
  const kafka = new Kafka({ ...config.kafka, clientId: name, log })
  const gateway = service.use(new ServiceClient({ from: name, to: 'gateway', ...config.gateway }))
  const outbound = service.use(new GuardedFetch(config.outbound))
  const box = new SecretBox(config.encryptionKey, 'webhook secrets')
  const timers = new Timers<TimerKinds, Orm>({ db, redis: config.redis, log })

  const deliverer = new Deliverer({ db, timers, outbound, box, log })
  timers.work(
    'webhook-delivery',
    {
      concurrency: config.deliveryConcurrency,
      leaseMs: LEASE_MS,
      retry: () => new Date(Date.now() + RETRY_OWN_FAILURE_MS),
    },
    deliverer.attempt,
  )
  service.use(timers)
  service.use(new MarkSweeper({ db, log }))
  service.use(messageConsumer({ kafka, db, timers }))
  service.use(tenancyConsumer({ kafka, db, timers }))
  service.use(
    new HttpListener({
      ...config.http,
      log,
      docsUrl: config.docsUrl,
      problems: () => service.problems(),
      handle: serviceRoutes({
        service: name,
        handlers: webhookRoutes({
          db,
          gateway,
          box,
          timers,
          cursors: new Cursors(config.cursorSecret),
          allowHttp: config.outbound.allow.http,
        }),
        internal: {},
        callerKey: config.callerKey,
        peerKeys: { gateway: config.gateway.key },
      }),
    }),
  )
  return service
}

if (import.meta.main) await run({ name, environment, configure, create })
