import { openBlobStore } from '@restante/blobs'
import { topics } from '@restante/contracts'
import { Kafka, MarkSweeper, Outbox, Relay, TopicsCheck } from '@restante/messaging'
import { createParserPool, type ParserPool, ReturnPath } from '@restante/mime'
import {
  Announcer,
  Bell,
  ByteBudget,
  ChannelListener,
  Cursors,
  confirmWith,
  HttpListener,
  type InternalHandlers,
  type Logger,
  MetricsListener,
  notFound,
  run,
  Service,
  ServiceClient,
  serviceRoutes,
} from '@restante/service'
import { type Config, configure, environment } from './config.ts'
import { openDatabase } from './database.ts'
import { DownloadLinks } from './files/links.ts'
import { fileRoutes } from './files/routes.ts'
import { Forgetting } from './housekeeping/forgetting.ts'
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
import { JustSent } from './sent/just-sent.ts'
import { LocalHandOver } from './sent/local-hand-over.ts'
import { SentPlacement } from './sent/placement.ts'
import { sentRoutes } from './sent/routes.ts'
import { Admission } from './smtp/admission.ts'
import { RecipientLookup } from './smtp/recipients.ts'
import { SmtpEdge } from './smtp/server.ts'
import { tenancyConsumer } from './tenancy/consumers.ts'
import { LabelRemoval } from './tenancy/label-removal.ts'
import { InboxPurge, purgeBacklog } from './tenancy/purge.ts'
import { InboxReconciliation } from './tenancy/reconciliation.ts'
import { purgeRoutes } from './tenancy/routes.ts'
import { AskingAgain } from './waiting/asking-again.ts'

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
  const db = service.use(openDatabase(config))
  const blobs = service.use(await openBlobStore(config.blobStore))
  const kafka = new Kafka({ ...config.kafka, clientId: name, log })
  const outbox = new Outbox({ db, service: name })
  const gateway = service.use(new ServiceClient({ from: name, to: 'gateway', ...config.gateway }))
  const mailSend = service.use(new ServiceClient({ from: name, to: 'mail-send', ...config.mailSend }))
  const returnPath = new ReturnPath({ domain: config.bounceDomain, secret: config.secrets.returnPath })
  const recipients = new RecipientLookup({ gateway, returnPath })
  const announcer = new Announcer(db, INBOUND)
  const names = service.use(new ReservedNames(db))
  const acceptance = new Acceptance({ db, outbox, names, announce: announcer.announce })
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
    const bell = new Bell()
    const { hostname, pipeline } = config
    announcer.attach(bell.ring)
    service.use(sweeper)
    service.use(new MarkSweeper({ db, log }))
    service.use(new Forgetting({ db, log }))
    service.use(purge)
    service.use(purgeBacklog(db, log))
    const labelRemoval = service.use(new LabelRemoval({ db, outbox, log }))
    service.use(tenancyConsumer({ kafka, db, announce: purge.ring, announceLabels: labelRemoval.ring }))
    service.use(new InboxReconciliation({ db, gateway, log, announce: purge.ring }))
    service.use(deliveriesConsumer({ kafka, db, outbox, placement }))
    service.use(new ChannelListener({ db, channel: INBOUND, ring: bell.ring, log }))
    const dns = new DnsCache(pipeline.dnsServers)
    const judge = service.use(new SenderJudge({ dns }))
    const waiting = service.use(new AskingAgain({ db, dns, log, announce: announcer.announce }))
    const authentication = { ...pipeline, hostname, judge, log }
    const answers = { db, mailSend, placement, log }
    const { rspamdUrl, concurrency } = pipeline
    const { answered } = waiting
    const examination = { hostname, authentication, answered, rspamdUrl, answers }
    const memory = new ByteBudget({ bytes: RAW_MAIL_BYTES })
    const tools = { db, blobs, outbox, parser, ...examination, memory, sweep: sweeper.ring, log }
    const leases = service.use(new Leases({ db, log }))
    service.use(new Pipeline({ tools, leases, bell, concurrency }))
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
    ...purgeRoutes({ db, announce: purge.ring }),
    ...sentRoutes({ db, placement, handOver }),
  }
  const justSent = new JustSent({ db, mailSend, placement, log })
  const handlers = {
    ...mailboxRoutes({ db, outbox, cursors, links, justSent, sweep: sweeper.ring }),
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
