import type { BlobStore } from '@restante/blobs'
import type { DkimKeys } from '@restante/mime'
import type { Config, SendKit } from '../config.ts'
import type { OutboundQueue } from '../delivery/outbound/outbound-queue.ts'
import { DraftLinks } from '../files/links.ts'
import { FileShelf } from '../files/shelf.ts'
import { Acceptance } from './acceptance/acceptance.ts'
import { Quotas } from './acceptance/quotas.ts'
import { AttachmentLoader } from './content/attachments.ts'
import { ReferencedFiles } from './content/referenced-files.ts'
import { Sender } from './sender.ts'

interface SendingParts {
  readonly blobs: BlobStore
  readonly outboundQueue: OutboundQueue
  readonly dkim: DkimKeys | undefined
}

/** What accepts messages, gets their attachments, and links to those of drafts. */
export interface Sending {
  readonly sender: Sender
  readonly attachments: AttachmentLoader
  readonly links: DraftLinks
}

/** What accepts messages of callers. Mail may be sent from the default domain, and is signed with its key. */
export function openSending(kit: SendKit, config: Config, { blobs, outboundQueue, dkim }: SendingParts): Sending {
  const { db, outbox } = kit
  const isShared = (domain: string) => domain === config.defaultDomain
  const links = new DraftLinks({ publicUrl: config.publicUrl, secret: config.linkSecret })
  const attachments = openAttachments(kit, config, new FileShelf({ db, blobs }), links)
  const sender = new Sender({
    db,
    acceptance: new Acceptance({ db, outbox, blobs, outboundQueue }),
    mailIngest: kit.peer('mail-ingest'),
    attachments,
    quotas: new Quotas({ limits: config.sendLimits, ramp: config.newRecipientRamp }),
    domains: { isVerified: isShared, isShared, dkimKey: (domain) => (isShared(domain) ? dkim : undefined) },
  })
  return { sender, attachments, links }
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
