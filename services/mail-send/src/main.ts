import { readFile } from 'node:fs/promises'
import { openBlobStore } from '@restante/blobs'
import { topics } from '@restante/contracts'
import { Timers } from '@restante/jobs'
import { Kafka, MarkSweeper, Outbox, Relay, TopicsCheck } from '@restante/messaging'
import { type DkimKey, ReturnPath } from '@restante/mime'
import {
  confirmWith,
  Database,
  GuardedFetch,
  HttpListener,
  type Logger,
  MetricsListener,
  run,
  SecretBox,
  Service,
  ServiceClient,
  serviceRoutes,
} from '@restante/service'
import { type Config, configure, environment } from './config.ts'
import { copyRoutes } from './copies/routes.ts'
import { Attempts, type DeliveryTimers } from './delivery/attempts.ts'
import { LocalRoute } from './delivery/local-route.ts'
import { MxHosts } from './delivery/mx-hosts.ts'
import { OutboundContent } from './delivery/outbound-content.ts'
import { OutboundQueue } from './delivery/outbound-queue.ts'
import { OutsideRoute } from './delivery/outside-route.ts'
import { Settlements } from './delivery/settlements.ts'
import { feedbackConsumer } from './feedback/consumers.ts'
import { Reports } from './feedback/reports.ts'
import { Sweeper } from './retention/sweeper.ts'
import { Acceptance } from './sending/acceptance.ts'
import { sendingRoutes } from './sending/routes.ts'
import { Sender } from './sending/sender.ts'
import { systemMailRoutes } from './system-mail/routes.ts'
import { SystemMail } from './system-mail/system-mail.ts'
import { tenancyConsumer } from './tenancy/consumers.ts'
import { Purge, purgeBacklog } from './tenancy/purge.ts'
import { purgeRoutes } from './tenancy/routes.ts'

const name = 'mail-send'
const VERSION = '0.1.0'

/** Sending and outbound delivery. */
export async function create(config: Config, log: Logger): Promise<Service> {
  const { defaultDomain, peerKeys } = config
  const dkim = await readDkimKey(config)
  const service = new Service({ name, log })
  service.use(
    new MetricsListener(config.metrics, { log, docsUrl: config.docsUrl, health: service, limits: config.http.limits }),
  )
  const db = service.use(new Database({ ...config.database, applicationName: name }))
  const blobs = service.use(await openBlobStore(config.blobStore))
  const kafka = new Kafka({ ...config.kafka, clientId: name, log })
  service.use(new TopicsCheck(kafka, [topics.tenancy, topics['mail.feedback'], topics['mail.deliveries']]))
  const gateway = service.use(
    new ServiceClient({ from: name, to: 'gateway', url: config.gatewayUrl, key: peerKeys.gateway }),
  )
  const mailIngest = service.use(
    new ServiceClient({ from: name, to: 'mail-ingest', url: config.mailIngestUrl, key: peerKeys['mail-ingest'] }),
  )
  const { allow, dnsServers, timeoutMs: attachmentTimeoutMs } = config.attachments
  const fetcher = service.use(new GuardedFetch({ version: VERSION, allow, dnsServers }))
  const outbox = new Outbox({ db, service: name })
  service.use(new Relay({ kafka, db, outbox }))
  service.use(new MarkSweeper({ db, log }))
  service.use(new Sweeper({ db, blobs, log }))

  const timers = new Timers<DeliveryTimers>({ db, redis: config.redis, log })
  const returnPath = new ReturnPath(config.returnPath)
  const { delivery } = config
  const content = new OutboundContent({ blobs, box: new SecretBox(config.encryptionKey, 'system mail') })
  const exchanges = new MxHosts(delivery.exchanges)
  new Attempts({
    ...delivery,
    db,
    timers,
    settlements: new Settlements(outbox),
    routes: {
      'delivery-local': new LocalRoute({ gateway, mailIngest, returnPath, name: defaultDomain }),
      'delivery-outside': service.use(new OutsideRoute({ ...delivery, content, returnPath, exchanges })),
    },
    log,
  }).register()
  service.use(timers)
  service.use(feedbackConsumer({ kafka, db, reports: new Reports(outbox) }))
  const purge = service.use(new Purge({ db, blobs, log }))
  service.use(purgeBacklog(db, log))
  service.use(tenancyConsumer({ kafka, db, notify: purge.notify }))

  const isShared = (domain: string) => domain === defaultDomain
  const departures = new OutboundQueue(timers, isShared)
  const sender = new Sender({
    db,
    acceptance: new Acceptance({ db, outbox, blobs, departures }),
    mailIngest,
    fetcher,
    attachmentTimeoutMs,
    domains: {
      isVerified: isShared,
      isShared,
      dkimKey: (domain) => (isShared(domain) ? dkim : undefined),
    },
  })
  const { systemSender } = config
  const systemMail = new SystemMail({ db, content, departures, domain: defaultDomain, sender: systemSender, dkim })
  const handle = serviceRoutes({
    service: name,
    handlers: sendingRoutes(sender),
    internal: { ...systemMailRoutes(systemMail), ...copyRoutes(db), ...purgeRoutes({ db, notify: purge.notify }) },
    callerKey: config.callerKey,
    confirm: confirmWith(gateway),
    peerKeys,
  })
  const { docsUrl } = config
  service.use(new HttpListener({ ...config.http, log, docsUrl, health: service, handle }))
  return service
}

/** @throws Error when the file cannot be read: unsigned mail must not go out where signed mail was ordered. */
async function readDkimKey({ dkim, defaultDomain }: Config): Promise<DkimKey | undefined> {
  if (!dkim) return undefined
  return { domain: defaultDomain, selector: dkim.selector, privateKey: await readFile(dkim.keyFile, 'utf8') }
}

if (import.meta.main) await run({ name, environment, configure, create })
