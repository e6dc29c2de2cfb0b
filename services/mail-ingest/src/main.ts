import { openBlobStore } from '@restante/blobs'
import { topics } from '@restante/contracts'
import { Kafka, MarkSweeper, Outbox, Relay, TopicsCheck } from '@restante/messaging'
import { createParserPool, type ParserPool, ReturnPath } from '@restante/mime'
import {
  ByteSemaphore,
  ChannelListener,
  Cursors,
  confirmWith,
  Database,
  HttpListener,
  type InternalHandlers,
  type Logger,
  MetricsListener,
  Notifier,
  notFound,
  run,
  Service,
  ServiceClient,
  serviceRoutes,
  Wakeup,
} from '@restante/service'
import { type Config, configure, environment } from './config.ts'
import { DownloadLinks } from './files/links.ts'
import { fileRoutes } from './files/routes.ts'
import { RetentionSweeper } from './housekeeping/retention-sweeper.ts'
import { Acceptance } from './inbound/acceptance.ts'
import { HourlyCounters } from './inbound/rates/hourly-counters.ts'
import { InboundRates } from './inbound/rates/inbound-rates.ts'
import { inboundRoutes } from './inbound/routes.ts'
import { StorageQuota } from './inbound/storage-quota.ts'
import { mailboxRoutes } from './mailbox/routes.ts'
import { Leases } from './pipeline/leases.ts'
import { Pipeline } from './pipeline/pipeline.ts'
import { ReservedNames } from './raw/reserved-names.ts'
import { RawMailSweeper } from './raw/sweeper.ts'
import { DnsCache } from './sender/dns-cache.ts'
import { SenderJudge } from './sender/sender-judge.ts'
import { deliveriesConsumer } from './sent/consumers.ts'
import { LocalHandOver } from './sent/local-hand-over.ts'
import { SentPlacement } from './sent/placement.ts'
import { RecentlySent } from './sent/recently-sent.ts'
import { sentRoutes } from './sent/routes.ts'
import { Admission } from './smtp/admission.ts'
import { RecipientLookup } from './smtp/recipients.ts'
import { SmtpEdge } from './smtp/server.ts'
import { tenancyConsumer } from './tenancy/consumers.ts'
import { LabelRemoval } from './tenancy/label-removal.ts'
import { InboxPurge, purgeBacklog } from './tenancy/purge.ts'
import { InboxReconciliation } from './tenancy/reconciliation.ts'
import { purgeRoutes } from './tenancy/routes.ts'
import { WaitingMailRecheck } from './waiting/recheck.ts'

const name = 'mail-ingest'
/** Raw mails that are read at once: one that is larger is read alone, for its texts may take ten times its size. */
const RAW_MAIL_BYTES = 16 * 1024 * 1024
/** Channel on which accepted mail is announced to the pipelines of other processes. */
const INBOUND = 'restante_inbound'

/** SMTP in, and the mailbox. Each role can be a process of its own; together they share what they hold. */
export async function create(config: Config, log: Logger): Promise<Service> {
  const service = new Service({ name, log })
  service.use(
    new MetricsListener(config.metrics, { log, docsUrl: config.docsUrl, health: service, limits: config.http.limits }),
  )
  const db = service.use(new Database({ ...config.database, applicationName: name }))
  const blobs = service.use(await openBlobStore(config.blobStore))
  const kafka = new Kafka({ ...config.kafka, clientId: name, log })
  const outbox = new Outbox({ db, service: name })
  const gateway = service.use(new ServiceClient({ from: name, to: 'gateway', ...config.gateway }))
  const mailSend = service.use(new ServiceClient({ from: name, to: 'mail-send', ...config.mailSend }))
  const returnPath = new ReturnPath({ domain: config.bounceDomain, secret: config.secrets.returnPath })
  const recipients = new RecipientLookup({ gateway, returnPath })
  const notifier = new Notifier(db, INBOUND)
  const names = service.use(new ReservedNames(db))
  const acceptance = new Acceptance({ db, outbox, names, notify: notifier.notify })
  const counters = service.use(new HourlyCounters({ ...config.rates.redis, log }))
  const rates = new InboundRates({ ...config.rates, counters, secret: config.secrets.returnPath })
  const storage = new StorageQuota({ db, limit: config.storageLimit })
  const reads = config.roles.has('pipeline') || config.roles.has('api')
  const parser = createParserPool({ ...config.pipeline.parser, ...(!reads && { threads: 0 }) })
  const placement = new SentPlacement({ db, blobs, parser, outbox, recipients })
  const sweeper = new RawMailSweeper({ db, blobs, log })

  service.use(parserPart(parser))
  service.use(new TopicsCheck(kafka, [topics['mail.inbound'], topics['mail.messages'], topics['mail.feedback']]))
  service.use(new Relay({ kafka, db, outbox }))

  const purge = new InboxPurge({ db, blobs, outbox, log })
  if (config.roles.has('pipeline')) {
    const wakeup = new Wakeup()
    const { hostname, pipeline } = config
    notifier.attach(wakeup.notify)
    service.use(sweeper)
    service.use(new MarkSweeper({ db, log }))
    service.use(new RetentionSweeper({ db, log }))
    service.use(purge)
    service.use(purgeBacklog(db, log))
    const labelRemoval = service.use(new LabelRemoval({ db, outbox, log }))
    service.use(tenancyConsumer({ kafka, db, notify: purge.notify, notifyLabels: labelRemoval.notify }))
    service.use(new InboxReconciliation({ db, gateway, log, notify: purge.notify }))
    service.use(deliveriesConsumer({ kafka, db, outbox, placement }))
    service.use(new ChannelListener({ db, channel: INBOUND, notify: wakeup.notify, log }))
    const dns = new DnsCache(pipeline.dnsServers)
    const judge = service.use(new SenderJudge({ dns }))
    const waiting = service.use(new WaitingMailRecheck({ db, dns, log, notify: notifier.notify }))
    const authentication = { ...pipeline, hostname, judge, log }
    const answers = { db, mailSend, placement, log }
    const { rspamdUrl, concurrency } = pipeline
    const { answered } = waiting
    const examination = { hostname, authentication, answered, rspamdUrl, answers }
    const memory = new ByteSemaphore({ bytes: RAW_MAIL_BYTES })
    const tools = { db, blobs, outbox, parser, ...examination, memory, sweep: sweeper.notify, log }
    const leases = service.use(new Leases({ db, log }))
    service.use(new Pipeline({ tools, leases, wakeup, concurrency }))
  }

  if (config.roles.has('smtp')) {
    const admission = new Admission({ rates, storage, log })
    const { hostname } = config
    service.use(new SmtpEdge({ ...config.smtp, hostname, recipients, acceptance, admission, blobs, log }))
  }

  const links = new DownloadLinks({ publicUrl: config.publicUrl, secret: config.secrets.link })
  const cursors = new Cursors(config.secrets.cursor)
  const { hostname } = config
  const handOver = new LocalHandOver({ db, blobs, acceptance, recipients, rates, storage, hostname, log })
  const internal: InternalHandlers<typeof name> = {
    ...inboundRoutes(db),
    ...purgeRoutes({ db, notify: purge.notify }),
    ...sentRoutes({ db, placement, handOver }),
  }
  const justSent = new RecentlySent({ db, mailSend, placement, log })
  const handlers = {
    ...mailboxRoutes({ db, outbox, cursors, links, justSent, sweep: sweeper.notify }),
    ...fileRoutes({ db, blobs, links }),
  }
  const peerKeys = { gateway: config.gateway.key, 'mail-send': config.mailSend.key }
  const { callerKey } = config
  const routes = serviceRoutes({
    service: name,
    handlers,
    internal,
    callerKey,
    confirm: confirmWith(gateway),
    peerKeys,
  })
  service.use(
    new HttpListener({
      ...config.http,
      log,
      docsUrl: config.docsUrl,
      health: service,
      handle: config.roles.has('api') ? routes : elsewhere,
    }),
  )
  return service
}

/** A process without the role answers for its health only. */
async function elsewhere(): Promise<never> {
  throw notFound('Route')
}

function parserPart(parser: ParserPool) {
  return { name: 'parser', stop: () => parser.close() }
}

if (import.meta.main) await run({ name, environment, configure, create })
