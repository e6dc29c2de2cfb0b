import { LIMITS, topics } from '@restante/contracts'
import { Timers } from '@restante/jobs'
import { Kafka, Outbox, Relay, TopicsCheck } from '@restante/messaging'
import {
  Cursors,
  HttpListener,
  KeyedMutex,
  type Logger,
  MetricsListener,
  run,
  Service,
  ServiceClient,
} from '@restante/service'
import { mailCodes } from './agents/code-mail.ts'
import { agentRoutes } from './agents/routes.ts'
import { type Config, configure, environment } from './config.ts'
import { credentialRoutes } from './credentials/routes.ts'
import { Secrets } from './credentials/secrets.ts'
import { openDatabase } from './database.ts'
import { Documents } from './edge/documents.ts'
import { edge } from './edge/edge.ts'
import { internalRoutes } from './edge/internal-routes.ts'
import { KeyLookup } from './edge/key-lookup.ts'
import { KeyUsage } from './edge/key-usage.ts'
import { Peers } from './edge/peers.ts'
import { routeTable } from './edge/route-table.ts'
import { StreamUpgrade } from './edge/stream-upgrade.ts'
import { Upstreams } from './edge/upstreams.ts'
import { awaitPurges } from './inboxes/purge.ts'
import { inboxRoutes } from './inboxes/routes.ts'
import { SystemSenderCheck } from './inboxes/system-sender.ts'
import { deleteOrganizations } from './organizations/deletion.ts'
import { deleteInactive } from './organizations/inactivity.ts'
import { purgeBacklog } from './organizations/purge-backlog.ts'
import { organizationRoutes } from './organizations/routes.ts'
import { podRoutes } from './pods/routes.ts'
import { Meter } from './rate-limits/meter.ts'
import { RateLimits } from './rate-limits/rate-limits.ts'
import { type RecurringJobKind, RecurringJobs } from './recurring-jobs.ts'
import { Signatures } from './signatures/authenticate.ts'
import { forgetNonces } from './signatures/nonces.ts'
import { sweepHourly } from './sweep.ts'
import { TenancyEvents } from './tenancy/events.ts'
import { tenancyRoutes } from './tenancy/routes.ts'
import type { GatewayTimers } from './timers.ts'

const name = 'gateway'

/** How long a sign-up waits for others of the same human; below the time that a request may take. */
const SIGN_UP_TIMEOUT_MS = 45_000

/** What a shutdown needs besides the streams: the lead of `/readyz`, requests that run, timers. */
const DRAIN_RESERVE_MS = 8_000

/** The public edge, and the owner of who may do what. */
export function create(config: Config, log: Logger): Service {
  const service = new Service({ name, log })
  service.use(
    new MetricsListener(config.metrics, { log, docsUrl: config.docsUrl, health: service, limits: config.http.limits }),
  )
  const db = service.use(openDatabase(config.database))
  service.use(new SystemSenderCheck({ db, address: config.addresses.systemSender.address, log }))
  const kafka = new Kafka({ ...config.kafka, clientId: name, log })
  const secrets = new Secrets(config.credentials)
  const cursors = new Cursors(config.cursorSecret)
  const keys = new KeyLookup({ db, secrets, region: config.credentials.region, otherRegionUrl: config.otherRegionUrl })
  const usage = service.use(new KeyUsage(db, log))
  const signatures = new Signatures({ db, publicUrls: config.publicUrls })
  service.use(forgetNonces(db, log))
  const outbox = new Outbox({ db, service: name })
  const events = new TenancyEvents(outbox, (organizationId) => keys.forget(organizationId))
  service.use(new TopicsCheck(kafka, [topics.tenancy]))
  service.use(new Relay({ kafka, db, outbox }))

  const clientOf = (to: keyof Config['peerKeys']) =>
    service.use(
      new ServiceClient({ from: name, to, url: config.upstreams.addresses[to].url, key: config.peerKeys[to] }),
    )
  const mailIngest = clientOf('mail-ingest')
  const mailSend = clientOf('mail-send')
  const dispatcher = clientOf('webhooks-dispatcher')
  const fanout = clientOf('websocket-fanout')

  const timers: GatewayTimers = new Timers({ db, redis: config.redis, log })
  mailCodes(timers, { db, secrets, mailSend })
  const purging = { 'mail-ingest': mailIngest, 'mail-send': mailSend, 'webhooks-dispatcher': dispatcher }
  awaitPurges(timers, { db, log, services: purging })
  sweepHourly(timers, { db, events, auditMs: config.auditMs })
  deleteOrganizations(timers, { db, events, timers, retiredAddressMs: config.retiredAddressMs })
  const kinds: RecurringJobKind[] = ['sweep']
  if (config.inactiveMs !== undefined) {
    deleteInactive(timers, { db, events, timers, log, mailIngest, inactiveMs: config.inactiveMs })
    kinds.push('inactive-organizations')
  }
  service.use(purgeBacklog(db, log))
  service.use(new RecurringJobs({ timers, db, log, kinds }))
  service.use(timers)

  const peers = new Peers(config.trustedProxies)
  const { redis, settings } = config.rateLimits
  const meter = service.use(new Meter({ url: redis.url, log }))
  const limits = new RateLimits({ meter, prefix: redis.prefix, settings })
  const upstreams = service.use(new Upstreams(config.upstreams))
  const deps = { db, turns: new KeyedMutex(), cursors, events, secrets, addresses: config.addresses }
  const handlers = {
    ...organizationRoutes(deps),
    ...podRoutes({ ...deps, limit: config.podLimit }),
    ...inboxRoutes({ ...deps, timers, retiredAddressMs: config.retiredAddressMs }),
    ...credentialRoutes({ ...deps, limit: config.credentialLimit }),
    ...agentRoutes({
      ...deps,
      timers,
      humanTurns: new KeyedMutex({ timeoutMs: SIGN_UP_TIMEOUT_MS }),
      settings: config.signUp,
      hasReceivedMail: async (organization_id) =>
        (await mailIngest.call('mail-ingest.hasReceivedMail', { organization_id })).received,
      hasMailFailed: async (id) => (await mailSend.call('mail-send.hasSystemMailFailed', { id })).failed,
      endWebhooks: async ({ organizationId: organization_id, takeOvers: take_overs }) => {
        await dispatcher.call('webhooks-dispatcher.endWebhooks', { organization_id, take_overs })
      },
    }),
  }
  const routes = routeTable(handlers, config.signUpOffered ? [] : ['agent.signUp'])

  const { docsUrl } = config
  const connectionLimits = { ...config.http.limits, isProxy: peers.isProxy }
  const front = {
    ...config.http,
    limits: connectionLimits,
    log,
    docsUrl,
    health: service,
    headerBytes: LIMITS.request.headers,
  }
  const internal = internalRoutes({ handlers: tenancyRoutes({ db }), peerKeys: config.peerKeys })
  if (config.internal !== 'on the public port') {
    service.use(
      new HttpListener({ ...config.http, ...config.internal, log, docsUrl, health: service, handle: internal }),
    )
  }

  const drainMs = Math.max(0, config.shutdownGraceMs - DRAIN_RESERVE_MS)
  const streams = new StreamUpgrade({ db, keys, usage, peers, limits, upstreams, fanout, log, drainMs })
  service.use(
    new HttpListener({
      ...front,
      audience: 'public',
      handle: edge({
        db,
        routes,
        keys,
        signatures,
        usage,
        peers,
        limits,
        upstreams,
        documents: new Documents(config),
        internal: config.internal === 'on the public port' ? internal : undefined,
      }),
      upgrade: streams.accept,
    }),
  )
  // Behind the listener, so that streams are closed before it stops: a shutdown runs in the opposite order.
  service.use(streams)
  return service
}

if (import.meta.main) await run({ name, environment, configure, create })
