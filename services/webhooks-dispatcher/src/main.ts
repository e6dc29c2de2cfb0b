import { LIMITS } from '@restante/contracts'
import { Timers } from '@restante/jobs'
import { Kafka, MarkSweeper } from '@restante/messaging'
import {
  Cursors,
  confirmWith,
  Database,
  GuardedFetch,
  HttpListener,
  KeyedMutex,
  type Logger,
  MetricsListener,
  run,
  SecretBox,
  Service,
  ServiceClient,
  serviceRoutes,
} from '@restante/service'
import { type Config, configure, environment } from './config.ts'
import { Deliverer } from './delivery/attempt.ts'
import { publicEventsConsumer } from './delivery/consumers.ts'
import type { TimerKinds } from './delivery/timers.ts'
import { tenancyConsumer } from './tenancy/consumers.ts'
import { tenancyRoutes } from './tenancy/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

const name = 'webhooks-dispatcher'

/** A request takes at most the delivery timeout; the rest is for an outage of the database, in which its answer is kept. */
const ATTEMPT_MS = 120_000
/** Our own trouble, not the receiver's: the attempt is made again, counts for nothing, and waits longer each time. */
const OWN_FAILURE_MS = { first: 2_000, most: 10_000 }

/** Webhook subscriptions, and the signed delivery of every event that one of them matches. */
export function create(config: Config, log: Logger): Service {
  const service = new Service({ name, log })
  service.use(
    new MetricsListener(config.metrics, { log, docsUrl: config.docsUrl, health: service, limits: config.http.limits }),
  )
  const db = service.use(new Database({ ...config.database, applicationName: name }))
  const kafka = new Kafka({ ...config.kafka, clientId: name, log })
  const gateway = service.use(new ServiceClient({ from: name, to: 'gateway', ...config.gateway }))
  const outbound = service.use(new GuardedFetch(config.outbound))
  const box = new SecretBox(config.encryptionKey, 'webhook secrets')
  // A shutdown waits for requests that run: a receiver that was cut off would get the same event again.
  const drainMs = LIMITS.webhook.timeout + 1_000
  const timers = new Timers<TimerKinds>({ db, redis: config.redis, log, drainMs })

  const deliverer = new Deliverer({ db, outbound, box, log })
  timers.work(
    'webhook-delivery',
    {
      concurrency: config.deliveryConcurrency,
      attemptMs: ATTEMPT_MS,
      retry: (attempt) => new Date(Date.now() + Math.min(OWN_FAILURE_MS.first * attempt, OWN_FAILURE_MS.most)),
    },
    deliverer.attempt,
  )
  service.use(timers)
  service.use(new MarkSweeper({ db, log }))
  service.use(publicEventsConsumer({ kafka, db, timers }))
  service.use(tenancyConsumer({ kafka, db, timers }))
  service.use(
    new HttpListener({
      ...config.http,
      log,
      docsUrl: config.docsUrl,
      health: service,
      handle: serviceRoutes({
        service: name,
        handlers: webhookRoutes({
          db,
          turns: new KeyedMutex(),
          gateway,
          box,
          cursors: new Cursors(config.cursorSecret),
          allowHttp: config.outbound.allow.http,
        }),
        internal: tenancyRoutes({ db, timers }),
        callerKey: config.callerKey,
        confirm: confirmWith(gateway),
        peerKeys: { gateway: config.gateway.key },
      }),
    }),
  )
  return service
}

if (import.meta.main) await run({ name, environment, configure, create })
