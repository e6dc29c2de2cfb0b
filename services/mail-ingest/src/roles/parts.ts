import { type BlobStore, openBlobStore } from '@restante/blobs'
import { DomainLookup } from '@restante/domains'
import { createParserPool, OpenImage, type ParserPool } from '@restante/mime'
import { Notifier } from '@restante/service/database'
import type { Config, IngestKit } from '../config.ts'
import { Acceptance } from '../inbound/acceptance.ts'
import { RecipientLookup } from '../inbound/recipients.ts'
import { ServiceAddresses } from '../inbound/service-addresses.ts'
import { StorageQuota } from '../inbound/storage-quota.ts'
import { HourlyCounters } from '../rates/hourly-counters.ts'
import { InboundRates } from '../rates/inbound-rates.ts'
import { RawMailBytes } from '../raw/bytes.ts'
import { ReservedNames } from '../raw/reserved-names.ts'
import { RawMailSweeper } from '../raw/sweeper.ts'
import { RawMailWriter } from '../raw/writer.ts'
import { CopySwitches } from '../reports/copy-switches.ts'
import { SentPlacement } from '../sent/placement.ts'
import { type MailTenancy, openTenancy } from '../tenancy/open-tenancy.ts'

/** NOTIFY channel on which accepted mail is signalled to the pipelines of other processes. */
export const INBOUND_CHANNEL = 'restante_inbound'

/** The components that the roles of a process share. */
export interface Parts extends MailTenancy {
  readonly blobs: BlobStore
  readonly bytes: RawMailBytes
  readonly writer: RawMailWriter
  readonly parser: ParserPool
  /** Which inboxes get copies of reports about their mail. */
  readonly copySwitches: CopySwitches
  readonly domains: DomainLookup
  readonly recipients: RecipientLookup
  readonly openImage: OpenImage
  readonly acceptance: Acceptance
  readonly rates: InboundRates
  readonly storage: StorageQuota
  readonly placement: SentPlacement
  /** Signals accepted mail to the pipelines. */
  readonly notifier: Notifier
  /** Runs in the role `pipeline`, as `tenancy` does. The other roles only wake it up. */
  readonly sweeper: RawMailSweeper
}

export async function openParts(kit: IngestKit, config: Config): Promise<Parts> {
  const { db, log, outbox } = kit
  const { limits, redisCache, returnPath, exemptLoopback, operator } = config
  const blobs = kit.use(await openBlobStore(config.blobStore))
  const bytes = new RawMailBytes({ db, blobs })
  const parser = openParser(kit, config)
  const addresses = new ServiceAddresses(config)
  const domains = new DomainLookup({ db, ownDomains: config.sharedDomains, owner: kit.peer('domains-dns') })
  const recipients = new RecipientLookup({ gateway: kit.peer('gateway'), addresses, domains, operator })
  const notifier = new Notifier(db, INBOUND_CHANNEL)
  const names = kit.use(new ReservedNames(db))
  const counters = kit.use(new HourlyCounters({ ...redisCache, prefix: `${redisCache.prefix}:inbound`, log }))
  const { exemptNetworks } = limits
  const { secret } = returnPath
  const openImage = new OpenImage(secret)
  return {
    blobs,
    bytes,
    writer: new RawMailWriter({ names, blobs }),
    parser,
    copySwitches: new CopySwitches({ db, domains, ownDomains: config.sharedDomains, shared: config.feedbackCopies }),
    domains,
    recipients,
    openImage,
    acceptance: new Acceptance({ db, outbox, bytes, notify: notifier.notify }),
    rates: new InboundRates({ counters, limits: limits.rates, exemptNetworks, exemptLoopback, secret }),
    storage: new StorageQuota({ db, limit: limits.storage }),
    placement: new SentPlacement({ db, blobs, parser, outbox, recipients, openImage }),
    notifier,
    sweeper: new RawMailSweeper({ db, bytes, log }),
    ...openTenancy({ kafka: kit.kafka, db, log, outbox, bytes }),
  }
}

/** The threads that parse mail; a process that only receives needs none. */
function openParser(kit: IngestKit, { roles, pipeline }: Config): ParserPool {
  const reads = roles.has('pipeline') || roles.has('api')
  const parser = createParserPool({ ...pipeline.parser, ...(!reads && { threads: 0 }) })
  kit.use({ name: 'parser', stop: () => parser.close() })
  return parser
}
