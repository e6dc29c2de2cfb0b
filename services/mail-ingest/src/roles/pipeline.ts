import { domainsProjection } from '@restante/domains'
import { createDmarcReader, createDocumentReader, type DmarcReader } from '@restante/mime'
import { ByteSemaphore, Wakeup } from '@restante/service/concurrency'
import { ChannelListener } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { VirusScanner } from '@restante/virus-scan'
import { DocumentWorker, type DocumentWorkerOptions } from '../attachment-texts/document-worker.ts'
import type { Config, IngestKit } from '../config.ts'
import { invitationsConsumer } from '../invitations/consumers.ts'
import { listsConsumer } from '../lists/consumers.ts'
import { ListOwner } from '../lists/list-owner.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import { InboundBacklog } from '../pipeline/queue/backlog.ts'
import { Leases } from '../pipeline/queue/leases.ts'
import { ReportCopies } from '../reports/report-copies.ts'
import { ReportedDeliveries } from '../reports/reported-deliveries.ts'
import { RetentionSweeper } from '../retention/sweeper.ts'
import { SearchIndexer } from '../search/indexing/indexer.ts'
import { DnsCache } from '../sender/dns/dns-cache.ts'
import { SenderJudge } from '../sender/sender-judge.ts'
import { deliveriesConsumer } from '../sent/consumers.ts'
import { WaitingMailRecheck } from '../waiting/recheck.ts'
import { INBOUND_CHANNEL, type Parts } from './parts.ts'

/**
 * Limit for the raw mails in memory together. A larger mail is read alone, because its texts may take ten times its
 * size.
 */
const RAW_MAIL_BYTES = 8 * 1024 * 1024

/** The role `pipeline`: turns accepted mail into messages, consumes events, and deletes expired data. */
export function openPipeline(kit: IngestKit, config: Config, parts: Parts): void {
  const { db, log, outbox } = kit
  const { hostname, pipeline, documents, dnsServers } = config
  const { bytes, parser, placement, notifier, sweeper, tenancy, labelRemoval } = parts
  const wakeup = new Wakeup()
  notifier.attach(wakeup.notify)
  kit.use(sweeper)
  kit.use(new RetentionSweeper({ db, log }))
  kit.use(new SearchIndexer({ db, log }))
  kit.use(new InboundBacklog({ db, log }))
  if (documents.threads > 0) kit.use(documentWorker(config, { db, bytes, log }))
  kit.use(labelRemoval)
  kit.use(tenancy)
  kit.use(deliveriesConsumer({ kafka: kit.kafka, db, outbox, placement }))
  kit.use(invitationsConsumer({ kafka: kit.kafka, db }))
  kit.use(listsConsumer({ kafka: kit.kafka, db }))
  kit.use(domainsProjection({ service: kit.name, kafka: kit.kafka, db, owner: kit.peer('domains-dns') }))
  kit.use(new ChannelListener({ db, channel: INBOUND_CHANNEL, notify: wakeup.notify, log }))
  const dns = new DnsCache(dnsServers)
  const judge = kit.use(new SenderJudge({ dns }))
  const waiting = kit.use(new WaitingMailRecheck({ db, dns, log, notify: notifier.notify }))
  const tools = {
    db,
    bytes,
    outbox,
    parser,
    dmarcReader: dmarcReader(kit),
    domains: parts.domains,
    hostname,
    ...reportTools(kit, config, parts),
    authentication: { ...pipeline, hostname, judge, log },
    answered: waiting.answered,
    rspamdUrl: pipeline.rspamdUrl,
    viruses: virusScanner(config, log),
    mailSend: kit.peer('mail-send'),
    answers: { db, mailSend: kit.peer('mail-send'), placement, log },
    listOwner: new ListOwner({ db, mailSend: kit.peer('mail-send'), log }),
    memory: new ByteSemaphore({ bytes: RAW_MAIL_BYTES }),
    sweep: sweeper.notify,
    log,
  }
  const leases = kit.use(new Leases({ db, log }))
  kit.use(new Pipeline({ tools, leases, wakeup, concurrency: pipeline.concurrency }))
}

function documentWorker(
  { documents }: Config,
  tools: Pick<DocumentWorkerOptions, 'db' | 'bytes' | 'log'>,
): DocumentWorker {
  return new DocumentWorker({ ...tools, reader: createDocumentReader(documents), threads: documents.threads })
}

function dmarcReader(kit: IngestKit): DmarcReader {
  const reader = createDmarcReader()
  kit.use({ name: 'DMARC reader', stop: () => reader.close() })
  return reader
}

function reportTools(kit: IngestKit, { returnPath, complaintAddresses }: Config, parts: Parts) {
  const [gateway, mailSend] = [kit.peer('gateway'), kit.peer('mail-send')]
  const reported = new ReportedDeliveries({ returnPath, mailSend })
  const copies = new ReportCopies({ gateway, mailSend, ...parts })
  return { complaintAddresses, reported, copies }
}

function virusScanner({ clamd, pipeline }: Config, log: Logger): VirusScanner | undefined {
  return clamd && new VirusScanner({ ...clamd, concurrency: pipeline.concurrency, log })
}
