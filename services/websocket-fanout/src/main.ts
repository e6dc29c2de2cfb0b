import { Kafka, MarkSweeper } from '@restante/messaging'
import {
  confirmWith,
  Database,
  HttpListener,
  type Logger,
  MetricsListener,
  run,
  Service,
  ServiceClient,
  serviceRoutes,
} from '@restante/service'
import { type Config, configure, environment } from './config.ts'
import { Hub } from './connections/hub.ts'
import { KeyWatch } from './connections/key-watch.ts'
import { StreamQuota } from './connections/quota.ts'
import { streamUpgrade } from './connections/upgrade.ts'
import { publicEventsConsumer, tenancyConsumer } from './log/consumers.ts'
import { recordEdgeLeaves } from './log/edge-leaves.ts'
import { LogSweeper } from './log/sweeper.ts'
import { LogTail } from './log/tail.ts'
import { scopeResolver } from './subscriptions/resolve.ts'

const name = 'websocket-fanout'

/** Live event streams: topics into a log of a day, the log to every instance, each instance to its sockets. */
export function create(config: Config, log: Logger): Service {
  const service = new Service({ name, log })
  service.use(
    new MetricsListener(config.metrics, { log, docsUrl: config.docsUrl, health: service, limits: config.http.limits }),
  )
  const db = service.use(new Database({ ...config.database, applicationName: name }))
  const kafka = new Kafka({ ...config.kafka, clientId: name, log })
  const gateway = service.use(new ServiceClient({ from: name, to: 'gateway', ...config.gateway }))
  const quota = service.use(new StreamQuota({ ...config.redis, log }))
  const hub = new Hub({ log, drainMs: config.streamDrainMs })
  const keys = service.use(new KeyWatch({ hub, gateway, log }))

  service.use(new LogSweeper({ db, log }))
  service.use(new MarkSweeper({ db, log }))
  const tail = new LogTail({ db, log, deliver: hub.deliver })
  const { notify } = tail
  service.use(publicEventsConsumer({ kafka, db, notify }))
  service.use(tenancyConsumer({ kafka, db, notify }))
  // Before the listener: a stream that is opened misses nothing from then on.
  service.use(tail)
  const listener = new HttpListener({
    ...config.http,
    log,
    docsUrl: config.docsUrl,
    health: service,
    handle: serviceRoutes({
      service: name,
      handlers: {},
      internal: {
        'websocket-fanout.drainConnections': async ({ body }) => {
          await recordEdgeLeaves({ db, notify }, body)
          return {}
        },
      },
      callerKey: config.callerKey,
      confirm: confirmWith(gateway),
      peerKeys: { gateway: config.gateway.key },
    }),
    upgrade: streamUpgrade({ ...config, hub, quota, keys, resolve: scopeResolver(gateway), log }),
  })
  service.use(listener)
  // Streams are closed one after another before what they stand on stops: they are fed, and may come back, until then.
  service.use(hub)
  return service
}

if (import.meta.main) await run({ name, environment, configure, create })
