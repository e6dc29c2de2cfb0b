import type { BlobStore } from '@restante/blobs'
import type { DkimKeys } from '@restante/mime'
import type { Config, SendKit } from '../config.ts'
import type { OutboundQueue } from '../delivery/outbound/outbound-queue.ts'
import type { DraftLinks } from '../files/links.ts'
import type { FileShelf } from '../files/shelf.ts'
import { Acceptance } from './acceptance/acceptance.ts'
import { AttachmentLoader } from './content/attachments.ts'
import { ReferencedFiles } from './content/referenced-files.ts'
import { Sender } from './sender.ts'

interface SendingParts {
  readonly blobs: BlobStore
  readonly outboundQueue: OutboundQueue
  readonly attachments: AttachmentLoader
  readonly dkim: DkimKeys | undefined
}

/** What accepts messages of callers. Mail may be sent from the default domain, and is signed with its key. */
export function openSending(
  kit: SendKit,
  config: Config,
  { blobs, outboundQueue, attachments, dkim }: SendingParts,
): Sender {
  const { db, outbox } = kit
  const isShared = (domain: string) => domain === config.defaultDomain
  return new Sender({
    db,
    acceptance: new Acceptance({ db, outbox, blobs, outboundQueue }),
    mailIngest: kit.peer('mail-ingest'),
    attachments,
    limits: config.sendLimits,
    domains: { isVerified: isShared, isShared, dkimKey: (domain) => (isShared(domain) ? dkim : undefined) },
  })
}

interface AttachmentParts {
  readonly shelf: FileShelf
  readonly links: DraftLinks
}

/** What gets the attachments of messages and drafts. */
export function openAttachments(kit: SendKit, config: Config, { shelf, links }: AttachmentParts): AttachmentLoader {
  return new AttachmentLoader({
    fetcher: kit.fetcher({ ...config.outbound, dnsServers: config.dnsServers }),
    timeoutMs: config.attachmentTimeoutMs,
    shelf,
    references: new ReferencedFiles({
      db: kit.db,
      gateway: kit.peer('gateway'),
      mailIngest: kit.peer('mail-ingest'),
      shelf,
      draftLinks: links,
      mailboxLinks: `${config.publicUrl}/v0/files/`,
    }),
  })
}
