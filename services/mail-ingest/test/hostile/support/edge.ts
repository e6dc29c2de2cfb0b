import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openBlobStore } from '@restante/blobs'
import { DomainLookup } from '@restante/domains'
import { Outbox } from '@restante/messaging'
import { ReturnPath } from '@restante/mime'
import { Database, sql } from '@restante/service/database'
import { ServiceClient } from '@restante/service/http'
import { createLogger } from '@restante/service/telemetry'
import { createDatabase } from '@restante/testkit'
import { Acceptance } from '../../../src/inbound/acceptance.ts'
import { RecipientLookup } from '../../../src/inbound/recipients.ts'
import { ServiceAddresses } from '../../../src/inbound/service-addresses.ts'
import { StorageQuota } from '../../../src/inbound/storage-quota.ts'
import { HourlyCounters } from '../../../src/rates/hourly-counters.ts'
import { InboundRates } from '../../../src/rates/inbound-rates.ts'
import { RawMailBytes } from '../../../src/raw/bytes.ts'
import { ReservedNames } from '../../../src/raw/reserved-names.ts'
import { RawMailWriter } from '../../../src/raw/writer.ts'
import { Admission } from '../../../src/smtp/admission.ts'
import { SmtpEdge } from '../../../src/smtp/server.ts'
import { configOf } from '../../fixture.ts'

const ACCEPTED = sql<{ blob: string }, [lane: string]>('select blob from inbound where lane = $1 order by position')

/** Somewhere that mail can be sent to, and what became of it. */
export interface Destination {
  readonly address: string
  /** The mails that were accepted for it, as they came. */
  mails(): Promise<string[]>
}

/** The SMTP server with the database and the blobs that it writes to, without the pipeline behind it. */
export interface Edge {
  readonly port: number
  /** A new destination: a return path, which no gateway has to be asked about. */
  destination(): Destination
  stop(): Promise<void>
}

export async function openEdge(variables: Record<string, string> = {}): Promise<Edge> {
  const [database, blobFolder] = await Promise.all([
    createDatabase(path.resolve(import.meta.dirname, '../../..')),
    mkdtemp(path.join(tmpdir(), 'smtp-edge-')),
  ])
  const config = configOf({
    PORT: '1',
    SMTP_PORT: '0',
    DATABASE_URL: database.url,
    BLOB_STORE: `directory:${blobFolder}`,
    GATEWAY_URL: 'http://127.0.0.1:9',
    ...variables,
  })
  const log = createLogger({ service: 'test', level: process.env['LOG_LEVEL'] ?? 'silent' })
  const db = new Database({ ...config.database, applicationName: 'test' })
  const blobs = await openBlobStore(config.blobStore)
  const gateway = new ServiceClient({ from: 'mail-ingest', to: 'gateway', ...config.peers.of('gateway') })
  const { hostname, operator } = config
  const addresses = new ServiceAddresses(config)
  const returnPath = new ReturnPath(config.returnPath)
  const owner = new ServiceClient({ from: 'mail-ingest', to: 'domains-dns', ...config.peers.of('domains-dns') })
  const domains = new DomainLookup({ db, ownDomains: config.sharedDomains, owner })
  const recipients = new RecipientLookup({ gateway, addresses, domains, operator })
  const names = new ReservedNames(db)
  const outbox = new Outbox({ db, service: 'mail-ingest' })
  const bytes = new RawMailBytes({ db, blobs })
  const acceptance = new Acceptance({ db, outbox, bytes, notify: () => {} })
  const writer = new RawMailWriter({ names, blobs })
  const counters = new HourlyCounters({ ...config.redisCache, log })
  const rates = new InboundRates({
    ...config.limits,
    limits: config.limits.rates,
    exemptLoopback: config.exemptLoopback,
    counters,
    secret: config.returnPath.secret,
  })
  const admission = new Admission({ rates, storage: new StorageQuota({ db, limit: undefined }), log })
  const edge = new SmtpEdge({
    ...config.smtp,
    hostname,
    forwardMark: operator.mark,
    recipients,
    acceptance,
    admission,
    writer,
    log,
  })
  await edge.start()
  return {
    port: edge.port,
    destination() {
      const id = randomUUID()
      return {
        address: returnPath.addressFor(id),
        async mails() {
          const rows = await db.query(ACCEPTED, id)
          return Promise.all(rows.map(async ({ blob }) => (await bytes.buffer(blob)).toString('latin1')))
        },
      }
    },
    async stop() {
      await edge.stop()
      await names.stop()
      await Promise.all([db.stop(), gateway.stop()])
      await Promise.all([database.drop(), rm(blobFolder, { recursive: true, force: true })])
    },
  }
}
