import type { BlobStore } from '@restante/blobs'
import type { Timers } from '@restante/jobs'
import { ReturnPath } from '@restante/mime'
import { SecretBox } from '@restante/service/secrets'
import type { Config, SendKit } from '../config.ts'
import type { SendTimers } from '../timers/kinds.ts'
import { Attempts } from './attempts/attempts.ts'
import { Decisions } from './attempts/decisions.ts'
import { OutboundContent } from './outbound/outbound-content.ts'
import { OutboundQueue } from './outbound/outbound-queue.ts'
import { DeliveryBacklog } from './queue/backlog.ts'
import { DeliveryQueue } from './queue/delivery-queue.ts'
import { queueRoutes } from './queue/routes.ts'
import { LocalRoute } from './routes/local-route.ts'
import { MtaSts } from './routes/mta-sts/mta-sts.ts'
import { MxHosts } from './routes/mx-hosts.ts'
import { OutsideRoute } from './routes/outside-route.ts'
import { WarmUp } from './warm-up/warm-up.ts'

/** What gives mail to delivery: its content, and the queue of messages on their way out. */
export interface Delivery {
  readonly content: OutboundContent
  readonly outboundQueue: OutboundQueue
  /** The internal operations of the operator on the queue. */
  readonly routes: ReturnType<typeof queueRoutes>
}

interface DeliveryParts {
  readonly blobs: BlobStore
  readonly timers: Timers<SendTimers>
}

/** Delivers what is queued: to inboxes hosted here, and by SMTP to the outside. */
export function openDelivery(kit: SendKit, config: Config, { blobs, timers }: DeliveryParts): Delivery {
  const { db, log, outbox } = kit
  const { delivery, defaultDomain } = config
  const returnPath = new ReturnPath(config.returnPath)
  const content = new OutboundContent({ blobs, box: new SecretBox(config.encryptionKey, 'system mail') })
  const mxHosts = new MxHosts(delivery.mxHosts)
  const { dnsServers, allowLocal } = delivery.mxHosts
  const fetcher = kit.fetcher({ name: 'policy hosts', allow: { loopback: allowLocal }, dnsServers })
  const mtaSts = delivery.mtaSts ? new MtaSts({ db, fetcher, dnsServers, log }) : undefined
  kit.use(new DeliveryBacklog({ db, log }))
  const decisions = new Decisions(outbox)
  new Attempts({
    ...delivery,
    db,
    timers,
    decisions,
    warmUp: delivery.warmUp && new WarmUp(delivery.warmUp),
    routes: {
      'delivery-local': new LocalRoute({
        gateway: kit.peer('gateway'),
        mailIngest: kit.peer('mail-ingest'),
        returnPath,
        name: defaultDomain,
      }),
      'delivery-outside': kit.use(new OutsideRoute({ ...delivery, content, returnPath, mxHosts, mtaSts })),
    },
    log,
  }).register()
  return {
    content,
    outboundQueue: new OutboundQueue(timers, (domain) => domain === defaultDomain),
    routes: queueRoutes(db, new DeliveryQueue({ db, timers, decisions, log })),
  }
}
