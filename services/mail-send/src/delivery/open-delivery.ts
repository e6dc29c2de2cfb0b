import type { BlobStore } from '@restante/blobs'
import { Timers } from '@restante/jobs'
import { type DkimKeys, ReturnPath, UnsubscribeAddress, UnsubscribeLink } from '@restante/mime'
import { SecretBox } from '@restante/service/secrets'
import type { Config, SendKit } from '../config.ts'
import { BounceNotices } from '../notices/bounce-notices.ts'
import { Attempts } from './attempts/attempts.ts'
import { Decisions } from './attempts/decisions.ts'
import { OutboundContent } from './outbound/outbound-content.ts'
import { OutboundQueue } from './outbound/outbound-queue.ts'
import type { SendTimers } from './outbound/timers.ts'
import { LocalRoute } from './routes/local-route.ts'
import { MxHosts } from './routes/mx-hosts.ts'
import { OutsideRoute } from './routes/outside-route.ts'

/** What gives mail to delivery: its content, and the queue of messages on their way out. */
export interface Delivery {
  readonly content: OutboundContent
  readonly outboundQueue: OutboundQueue
}

interface DeliveryParts {
  readonly blobs: BlobStore
  readonly dkim: DkimKeys | undefined
}

/** Delivers what is queued: to inboxes hosted here, and by SMTP to the outside. */
export function openDelivery(kit: SendKit, config: Config, { blobs, dkim }: DeliveryParts): Delivery {
  const { db, log, outbox } = kit
  const { delivery, defaultDomain, redis } = config
  const returnPath = new ReturnPath(config.returnPath)
  const content = new OutboundContent({
    blobs,
    box: new SecretBox(config.encryptionKey, 'system mail'),
    dkim,
    unsubscribe: { link: unsubscribeLink(config), address: new UnsubscribeAddress(config.returnPath) },
  })
  const mxHosts = new MxHosts(delivery.mxHosts)
  const timers = kit.use(new Timers<SendTimers>({ db, redis, log }))
  const [gateway, mailIngest] = [kit.peer('gateway'), kit.peer('mail-ingest')]
  const noticed = { db, blobs, timers, gateway, mailIngest, name: delivery.ehloName, domain: defaultDomain }
  const notices = new BounceNotices(noticed)
  notices.register()
  new Attempts({
    ...delivery,
    db,
    timers,
    decisions: new Decisions(outbox, notices),
    routes: {
      'delivery-local': new LocalRoute({
        gateway,
        mailIngest,
        content,
        returnPath,
        name: defaultDomain,
      }),
      'delivery-outside': kit.use(new OutsideRoute({ ...delivery, content, returnPath, mxHosts })),
    },
    log,
  }).register()
  return { content, outboundQueue: new OutboundQueue(timers, (domain) => domain === defaultDomain) }
}

/** The links by which recipients unsubscribe. */
export function unsubscribeLink({ publicUrl, returnPath }: Pick<Config, 'publicUrl' | 'returnPath'>): UnsubscribeLink {
  return new UnsubscribeLink({ publicUrl, secret: returnPath.secret })
}
