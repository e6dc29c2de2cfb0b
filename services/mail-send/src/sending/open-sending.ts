import type { BlobStore } from '@restante/blobs'
import { OpenImage } from '@restante/mime'
import type { Config, SendKit } from '../config.ts'
import type { OutboundQueue } from '../delivery/outbound/outbound-queue.ts'
import type { SendingDomains } from '../domains/sending-domains.ts'
import { DraftLinks } from '../files/links.ts'
import { FileShelf } from '../files/shelf.ts'
import { Opens } from '../opens/opens.ts'
import { openRoutes } from '../opens/routes.ts'
import { Acceptance } from './acceptance/acceptance.ts'
import { Quotas } from './acceptance/quotas.ts'
import { AttachmentLoader } from './content/attachments.ts'
import { ReferencedFiles } from './content/referenced-files.ts'
import { Sender } from './sender.ts'

interface SendingParts {
  readonly blobs: BlobStore
  readonly outboundQueue: OutboundQueue
  readonly domains: SendingDomains
}

/** What accepts messages, gets their attachments, and links to those of drafts. */
export interface Sending {
  readonly sender: Sender
  readonly attachments: AttachmentLoader
  readonly links: DraftLinks
  readonly acceptance: Acceptance
  readonly quotas: Quotas
  /** The internal operation on the openings of messages. */
  readonly routes: ReturnType<typeof openRoutes>
}

/** What accepts messages of callers. */
export function openSending(kit: SendKit, config: Config, { blobs, outboundQueue, domains }: SendingParts): Sending {
  const { db, outbox } = kit
  const links = new DraftLinks({ publicUrl: config.publicUrl, secret: config.linkSecret })
  const attachments = openAttachments(kit, config, new FileShelf({ db, blobs }), links)
  const openImage = new OpenImage(config.returnPath.secret)
  const acceptance = new Acceptance({ db, outbox, blobs, outboundQueue })
  const quotas = new Quotas({ limits: config.sendLimits, ramp: config.newRecipientRamp })
  const sender = new Sender({
    db,
    acceptance,
    mailIngest: kit.peer('mail-ingest'),
    attachments,
    quotas,
    domains,
    openImage,
  })
  return { sender, attachments, links, acceptance, quotas, routes: openRoutes(new Opens({ db, outbox, openImage })) }
}

function openAttachments(kit: SendKit, config: Config, shelf: FileShelf, draftLinks: DraftLinks): AttachmentLoader {
  return new AttachmentLoader({
    fetcher: kit.fetcher({ ...config.outbound, dnsServers: config.dnsServers }),
    timeoutMs: config.attachmentTimeoutMs,
    shelf,
    references: new ReferencedFiles({
      db: kit.db,
      gateway: kit.peer('gateway'),
      mailIngest: kit.peer('mail-ingest'),
      shelf,
      draftLinks,
      mailboxLinks: `${config.publicUrl}/v0/files/`,
    }),
  })
}
