import { getServers } from 'node:dns'
import type { BlobStore } from '@restante/blobs'
import type { Timers } from '@restante/jobs'
import { type DkimKeys, ReturnPath, UnsubscribeAddress, UnsubscribeLink } from '@restante/mime'
import { SecretBox } from '@restante/service/secrets'
import { VirusScanner } from '@restante/virus-scan'
import type { Config, SendKit } from '../config.ts'
import { BounceNotices } from '../notices/bounce-notices.ts'
import type { SendTimers } from '../timers/kinds.ts'
import { Attempts } from './attempts/attempts.ts'
import { Decisions } from './attempts/decisions.ts'
import { InstallationMail } from './outbound/installation-mail.ts'
import { OutboundContent } from './outbound/outbound-content.ts'
import { OutboundQueue } from './outbound/outbound-queue.ts'
import { DeliveryBacklog } from './queue/backlog.ts'
import { DeliveryQueue } from './queue/delivery-queue.ts'
import { queueRoutes } from './queue/routes.ts'
import { Dane } from './routes/dane/dane.ts'
import { isOnThisMachine, SecureDns } from './routes/dane/secure-dns.ts'
import { LocalRoute } from './routes/local-route.ts'
import { MtaSts } from './routes/mta-sts/mta-sts.ts'
import { MxHosts } from './routes/mx-hosts.ts'
import { MxSessions } from './routes/mx-sessions.ts'
import { OutsideRoute } from './routes/outside-route.ts'
import type { SenderRoutes } from './routes/smarthosts/smarthost.ts'
import { OutboundScan, type OutboundScanOptions } from './scanning/outbound-scan.ts'
import { WarmUp } from './warm-up/warm-up.ts'

/** What gives mail to delivery: the queue of messages on their way out, and what the installation itself sends. */
export interface Delivery {
  readonly outboundQueue: OutboundQueue
  readonly installationMail: InstallationMail
  readonly deliveryQueue: DeliveryQueue
  /** The internal operations of the operator on the queue. */
  readonly routes: ReturnType<typeof queueRoutes>
}

/** Scans at a time; clamd has ten threads by default, which mail-ingest uses as well. */
const MOST_SCANS = 4

interface DeliveryParts {
  readonly blobs: BlobStore
  readonly dkim: DkimKeys | undefined
  readonly timers: Timers<SendTimers>
  readonly senderRoutes: SenderRoutes
}

/** Delivers what is queued: to inboxes hosted here, and by SMTP to the outside. */
export function openDelivery(kit: SendKit, config: Config, parts: DeliveryParts): Delivery {
  const { blobs, dkim, timers, senderRoutes } = parts
  const { db, log, outbox } = kit
  const { delivery, defaultDomain, sharedDomains } = config
  const returnPath = new ReturnPath(config.returnPath)
  const content = new OutboundContent({
    blobs,
    box: new SecretBox(config.encryptionKey, 'system mail'),
    dkim,
    unsubscribe: { link: unsubscribeLink(config), address: new UnsubscribeAddress(config.returnPath) },
  })
  const { dnsServers, allowLocal } = delivery.mxHosts
  const mxHosts = new MxHosts({ ...delivery.mxHosts, dane: openDane(delivery) })
  const fetcher = kit.fetcher({ name: 'policy hosts', allow: { loopback: allowLocal }, dnsServers })
  const mtaSts = delivery.mtaSts ? new MtaSts({ db, fetcher, dnsServers, log }) : undefined
  const mxSessions = new MxSessions({ ...delivery, mxHosts, mtaSts })
  kit.use(new DeliveryBacklog({ db, log }))
  const [gateway, mailIngest] = [kit.peer('gateway'), kit.peer('mail-ingest')]
  const noticed = { db, blobs, timers, gateway, mailIngest, name: delivery.ehloName, domain: defaultDomain }
  const notices = new BounceNotices(noticed)
  notices.register()
  const decisions = new Decisions(outbox, notices)
  const scan = outboundScan(kit, config, { blobs, decisions })
  new Attempts({
    ...delivery,
    db,
    admit: scan && ((target) => scan.admit(target)),
    timers,
    decisions,
    warmUp: delivery.warmUp && new WarmUp(delivery.warmUp),
    routes: {
      'delivery-local': new LocalRoute({
        gateway,
        mailIngest,
        content,
        returnPath,
        name: defaultDomain,
        operator: config.operator,
      }),
      'delivery-outside': kit.use(new OutsideRoute({ ...delivery, senderRoutes, content, returnPath, mxSessions })),
    },
    log,
  }).register()
  const outboundQueue = new OutboundQueue(timers, (domain) => sharedDomains.has(domain))
  const deliveryQueue = new DeliveryQueue({ db, timers, decisions, log })
  return {
    outboundQueue,
    deliveryQueue,
    installationMail: new InstallationMail({ db, content, outboundQueue, domain: defaultDomain }),
    routes: queueRoutes(db, deliveryQueue),
  }
}

/** Only a resolver that nobody can get in front of is trusted without being told to be. */
function openDane({ dane, mxHosts }: Config['delivery']): Dane | undefined {
  const servers = mxHosts.dnsServers.length > 0 ? mxHosts.dnsServers : getServers()
  const isTrusted = dane === 'on' || (dane === 'auto' && servers.every(isOnThisMachine))
  return isTrusted ? new Dane(new SecureDns(servers)) : undefined
}

function outboundScan(
  { db, log }: SendKit,
  { clamd, delivery }: Config,
  parts: Pick<OutboundScanOptions, 'blobs' | 'decisions'>,
): OutboundScan | undefined {
  if (!clamd) return undefined
  const scanner = new VirusScanner({ ...clamd, concurrency: Math.min(MOST_SCANS, delivery.concurrency), log })
  return new OutboundScan({ ...parts, db, log, scanner })
}

/** The links by which recipients unsubscribe. */
export function unsubscribeLink({ publicUrl, returnPath }: Pick<Config, 'publicUrl' | 'returnPath'>): UnsubscribeLink {
  return new UnsubscribeLink({ publicUrl, secret: returnPath.secret })
}
