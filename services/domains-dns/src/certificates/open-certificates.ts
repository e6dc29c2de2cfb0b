import type { Timers } from '@restante/jobs'
import type { Database, Tx } from '@restante/service/database'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { KeyRing } from '../keys/key-ring.ts'
import type { DomainRow } from '../registrations/store.ts'
import type { SettleOptions } from '../status/settle.ts'
import { AccountStore } from './authority/account-store.ts'
import { Authority } from './authority/authority.ts'
import type { AcmeSettings } from './authority/settings.ts'
import { Dropping } from './dropping.ts'
import { Ordering } from './ordering.ts'
import { Revoking } from './revoking.ts'
import { type CertificateHandlers, certificateRoutes } from './routes.ts'
import { CertificateStore } from './state/certificates.ts'
import { challengeStore } from './state/challenges.ts'
import { wantsCertificate } from './state/registrations.ts'
import { CertificateSweeper } from './sweeper.ts'
import type { CertificateTimers } from './timers.ts'

export interface CertificatesOptions {
  readonly db: Database
  readonly log: Logger
  readonly timers: Timers<CertificateTimers>
  /** Seals private keys. */
  readonly keys: KeyRing
  readonly settling: SettleOptions
  /** Adds a component to the service. */
  readonly use: (component: Component) => void
}

/** The certificates of tracking hosts, as the rest of the service sees them. */
export interface Certificates {
  readonly handlers: CertificateHandlers
  /** In the transaction of a check, with the registration as the check leaves it: orders what is missing. */
  readonly checked: (tx: Tx, row: DomainRow) => Promise<void>
  /**
   * In the transaction that deletes a registration, before its row goes, or that switches tracking off: the key and the
   * certificate go with it, unless another registration of the name needs them, and the revocation follows by itself.
   */
  readonly drop: (tx: Tx, uid: string) => Promise<void>
}

/**
 * Composes the certificates of tracking hosts.
 * @param acme undefined: nothing is ordered, so that no tracking host becomes ready; what is there is still served.
 */
export function openCertificates(options: CertificatesOptions, acme: AcmeSettings | undefined): Certificates {
  const { db, log, timers, keys, settling, use } = options
  const certificates = new CertificateStore(keys)
  const dropping = new Dropping({ certificates, timers })
  if (acme !== undefined) {
    const accounts = new AccountStore(db, keys)
    const authority = new Authority({ settings: acme, accounts, challenges: challengeStore(db) })
    new Ordering({ db, log, authority, certificates, dropping, settling }).register(timers)
    new Revoking({ db, log, authority }).register(timers)
    use(new CertificateSweeper({ db, log, timers }))
  }
  return {
    handlers: certificateRoutes(db, certificates),
    async checked(tx, row) {
      if (acme === undefined || row.certified_until !== null || !wantsCertificate(row)) return
      await timers.scheduleIfMissing(tx, { kind: 'certificate', key: row.name, payload: {} })
    },
    drop: (tx, uid) => dropping.drop(tx, uid),
  }
}
