import type { BlobStore } from '@restante/blobs'
import type { DkimKeys } from '@restante/mime'
import type { Config, SendKit } from '../config.ts'
import type { OutboundQueue } from '../delivery/outbound/outbound-queue.ts'
import { Acceptance } from './acceptance/acceptance.ts'
import { Sender } from './sender.ts'

interface SendingParts {
  readonly blobs: BlobStore
  readonly outboundQueue: OutboundQueue
  readonly dkim: DkimKeys | undefined
}

/** What accepts messages of callers. Mail may be sent from the default domain, and is signed with its key. */
export function openSending(kit: SendKit, config: Config, { blobs, outboundQueue, dkim }: SendingParts): Sender {
  const { db, outbox } = kit
  const isShared = (domain: string) => domain === config.defaultDomain
  return new Sender({
    db,
    acceptance: new Acceptance({ db, outbox, blobs, outboundQueue }),
    mailIngest: kit.peer('mail-ingest'),
    fetcher: kit.fetcher({ ...config.outbound, dnsServers: config.dnsServers }),
    attachmentTimeoutMs: config.attachmentTimeoutMs,
    domains: { isVerified: isShared, isShared, dkimKey: (domain) => (isShared(domain) ? dkim : undefined) },
  })
}
